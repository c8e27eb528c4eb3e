"""``python -m hermes_tui``."""

from hermes_tui.cli import main

raise SystemExit(main())
