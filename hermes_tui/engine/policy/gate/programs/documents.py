"""Typesetting, pictures, sound: what they run besides."""

from __future__ import annotations

from .rows import unknown

_RUNS = "runs a program"

ROWS = [
    *unknown(
        "pandoc",
        "r*",
        "-o|--output=:w -f|--from|-r|--read= -t|--to|-w|--write= -s|--standalone --toc -V|--variable= "
        "-M|--metadata= "
        "--pdf-engine=:u --template=:r --css= -F|--filter=:x -L|--lua-filter=:x -d|--defaults=:u --wrap= --columns= "
        "-N "
        "-H=:r -B=:r -A=:r --bibliography=:r --csl=:r -C|--citeproc --data-dir=:u --extract-media=:w "
        "--pdf-engine-opt=:x",
        dangers=dict.fromkeys(("-F", "-L", "--pdf-engine-opt"), _RUNS),
    ),
    *unknown(
        "latex pdflatex xelatex lualatex tex pdftex luatex latexmk",
        "r*",
        "-interaction= -halt-on-error -output-directory=:w -jobname= -synctex= -pdf -c -C -f -shell-escape:x "
        "--shell-escape:x -enable-write18:x -e=:x -pdflatex=:x -shell-restricted -no-shell-escape -draftmode",
        single=True,
        dangers=dict.fromkeys(("-shell-escape", "--shell-escape", "-enable-write18", "-e", "-pdflatex"), _RUNS),
    ),
    *unknown(
        "groff troff gtroff pic nroff",
        "r*",
        "-T= -m= -U:x -S -t -e -p -k -z -K= -P=:x",
        dangers={"-U": _RUNS, "-P": _RUNS},
    ),
    *unknown(
        "gs ghostscript",
        "r*",
        "-q -dBATCH -dNOPAUSE -dSAFER -dNOSAFER:x -dDELAYSAFER:x -c=:x -o=:w -sDEVICE? -r? -sOutputFile?:w",
        single=True,
        dangers=dict.fromkeys(("-dNOSAFER", "-dDELAYSAFER", "-c"), _RUNS),
    ),
    *unknown("convert magick mogrify", "-*", remember=False),
    *unknown("ffmpeg", "-*", "-i=:r -y -n -vn -an -c= -f= -ss= -t= -to= -vf= -af= -crf= -b= -r= -s=", single=True),
    *unknown("dot neato fdp sfdp circo", "r*", "-T= -o=:t -O -K= -G= -N= -E= -q -v"),
]
