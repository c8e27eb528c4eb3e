"""Containers and clusters: docker, podman, compose, kubectl, terraform."""

from __future__ import annotations

from dataclasses import replace

from ..facts import Call, Inner, Issue, Outcome
from .rows import danger, parent, safe, unknown

_MOUNT = "gives a container access to this machine"
_PUBLISHES = "publishes to others"
_DELETES = "deletes containers, images, volumes or objects of a cluster"
_RUN = (
    "-d|--detach -i|--interactive -t|--tty --rm --name= -e|--env= --env-file=:r -p|--publish=:u -w|--workdir= "
    "-u|--user= --network|--net=:u --entrypoint= --platform= -m|--memory= --cpus= -l|--label= --pull= -q|--quiet "
    "-h|--hostname= --restart=:u --init --read-only -P:u -v|--volume=:d --mount=:d --volumes-from=:d --privileged:d "
    "--pid=:d --ipc=:d --userns=:d --uts=:d --cap-add=:d --device=:d --security-opt=:d --gpus=:u --add-host=:u "
    "--tmpfs= --shm-size= --ulimit="
)
_DANGERS = dict.fromkeys(
    [
        "-v",
        "--mount",
        "--volumes-from",
        "--privileged",
        "--pid",
        "--ipc",
        "--userns",
        "--uts",
        "--cap-add",
        "--device",
        "--security-opt",
    ],
    _MOUNT,
)


def check_exec(call: Call) -> Outcome:
    """``exec CONTAINER COMMAND``: the command is judged as well."""
    return Outcome([], [Inner(words=call.args.operands[1:])] if len(call.args.operands) > 1 else [])


def check_kubectl_exec(call: Call) -> Outcome:
    """``kubectl exec POD -- COMMAND``."""
    count = call.args.after_dashes
    return Outcome([], [Inner(words=call.args.operands[-count:])] if count else [])


def check_cp(call: Call) -> Outcome:
    """``docker cp``: the local side is a path."""
    issues: list[Issue] = []
    for i, word in enumerate(call.args.operands):
        if ":" not in word.text:
            issues += call.guard.judge(word, "write" if i else "read", call.command.cwds)
    return Outcome(issues, operands=[])


_COMPOSE = parent(
    "compose",
    "-f|--file=:u -p|--project-name= --profile= --env-file=:r --project-directory=:u",
    safe("ps logs config images ls top version port", "-*", "-f|--follow -q --services -a --tail= -n= --format= -t"),
    unknown("up build pull start restart stop create pause unpause watch", remember=False),
    unknown(
        "run exec",
        "-*",
        f"{_RUN} -T --no-deps --service-ports --build --index=",
        stops=True,
        check=check_exec,
        dangers=_DANGERS,
        remember=False,
        reason="runs a command in a container",
    ),
    danger("push", _PUBLISHES),
    danger("down rm kill", _DELETES, "-*", "-v|--volumes -f --rmi= --remove-orphans -s"),
)
_RUNNERS = [
    *unknown("run create", "-*", _RUN, stops=True, remember=False, dangers=_DANGERS, reason="runs a container"),
    *unknown(
        "exec",
        "-*",
        "-i|--interactive -t|--tty -d -e= -u= -w= --privileged:d",
        stops=True,
        remember=False,
        check=check_exec,
        dangers={"--privileged": _MOUNT},
        reason="runs a command in a container",
    ),
]
_DOCKER_READS = "ps images logs inspect version info port stats top diff history search events ls"
_OBJECTS = {
    name: parent(
        name,
        "",
        safe("ls list inspect ps logs top stats", "-*", "-q -a -f= --format= --filter= --tail= -n="),
        unknown(
            "create pull build start stop restart connect use tag load save import export",
            remember=False,
        ),
        _RUNNERS,
        danger("push", _PUBLISHES),
        danger("rm prune kill remove disconnect", _DELETES),
        remember=False,
    )
    for name in (
        "image",
        "container",
        "volume",
        "network",
        "system",
        "builder",
        "context",
        "buildx",
        "manifest",
        "plugin",
    )
}

ROWS = [
    replace(_COMPOSE, name="docker-compose"),
    parent(
        "docker",
        "-H|--host=:d --context=:u -c=:u -D --config=:u -l= --tls:u --tlscacert=:u --tlscert=:u --tlskey=:u "
        "--tlsverify",
        safe(
            _DOCKER_READS,
            "-*",
            "-a|--all -q|--quiet -f? -n= --format= --filter= --no-trunc --tail= --since= --until= -t|--timestamps "
            "--digests -s|--size -l|--latest --no-stream --type=",
        ),
        _RUNNERS,
        danger("push", _PUBLISHES),
        danger("login", "handles keys or credentials"),
        unknown(
            "build pull tag start stop restart pause unpause attach commit import load save export "
            "logout rename update wait",
            "-*",
            "-t|--tag= -f|--file=:r -q --no-cache --pull --build-arg= --target= --platform= --progress= -o=:w "
            "--secret=:d --ssh=:d",
            remember=False,
        ),
        unknown("cp", check=check_cp, remember=False),
        danger("rm rmi kill prune swarm stack node service secret", _DELETES, "-*", "-f -v -s= -l"),
        [_COMPOSE, *_OBJECTS.values()],
        unknown("*", remember=False),
        dangers={"-H": "works on another machine"},
        remember=False,
    ),
    parent(
        "kubectl",
        "-n|--namespace= --context=:u --kubeconfig=:d --cluster=:u -s|--server=:u --token=:d --as=:d -v=",
        safe(
            "get describe logs top version explain api-resources api-versions cluster-info diff events",
            "-*",
            "-o= -A|--all-namespaces -l= -w -f? --tail= -c= --since= -p --show-labels --sort-by= --field-selector= "
            "--context= -n=",
        ),
        danger(
            "exec attach debug port-forward proxy cp run",
            "reaches into a cluster",
            "-*",
            "-i -t -c= -n= --stdin --tty",
            check=check_kubectl_exec,
        ),
        danger("delete drain cordon uncordon taint evict", _DELETES),
        danger(
            "apply create replace patch edit scale rollout set label annotate expose autoscale", "changes a cluster"
        ),
        unknown(
            "config auth kustomize wait plugin",
            "-*",
            "--raw:d --minify -o=",
            dangers={"--raw": "shows credentials"},
            remember=False,
        ),
        unknown("*", remember=False),
        dangers={
            "--token": "uses a credential",
            "--as": "acts as somebody else",
            "--kubeconfig": "uses another configuration, which may run programs",
        },
        remember=False,
    ),
    parent(
        "helm",
        "-n= --kube-context= --namespace=",
        safe("list ls status get show search history template lint version repo"),
        danger("install upgrade uninstall delete rollback push", "changes a cluster"),
        remember=False,
    ),
    parent(
        "terraform",
        "-chdir=:u",
        safe("version show output validate providers graph"),
        unknown("init plan fmt get workspace", remember=False),
        danger("apply destroy import state taint untaint force-unlock", "changes infrastructure"),
        single=True,
        remember=False,
    ),
    *danger(
        "tofu pulumi ansible ansible-playbook vagrant virsh lxc lxc-start incus multipass qemu-system-x86_64 packer "
        "salt chef puppet eksctl kind minikube k3d oc nomad consul skaffold argocd flux",
        "changes machines, clusters or infrastructure",
    ),
    *danger("buildah skopeo crictl ctr runc", "works on containers below the engine"),
]
