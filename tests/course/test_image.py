"""The image for graders, the development container, and the files for Kubernetes: that they fit the packages and their schemas."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

ROOT = Path(__file__).parents[2]
CONTAINERFILE = (ROOT / "deploy/image/Containerfile").read_text()
KUBERNETES = ROOT / "deploy/kubernetes"
#: the oldest version that the files are for, and the newest that has schemas here
VERSIONS = ("1.33", "1.37")


def validate(resource: dict[str, Any]) -> None:
    for version in VERSIONS:
        kubernetes_validate.validate(resource, version, strict=True)


def test_the_image_installs_each_package_of_this_repository_and_what_the_sandbox_runs():
    named = re.findall(r"\./(packages/[a-z-]+\*?)", CONTAINERFILE)
    installed = {path.name for pattern in named for path in ROOT.glob(pattern)}
    packages = {path.parent.name for path in ROOT.glob("packages/*/pyproject.toml")}
    assert installed == packages - {"transformer-course"}, "that one is for learners"
    apt = re.search(r"apt-get install (.*?) \\$", CONTAINERFILE, re.MULTILINE)
    assert apt and {"bubblewrap", "tini", "python3-venv"} <= set(apt[1].split())
    locks = set(re.findall(r"requirements/[a-z.]+", CONTAINERFILE))
    assert [lock for lock in locks if not (ROOT / lock).exists()] == []


def test_the_image_runs_as_another_user_than_root():
    assert re.findall(r"^USER (.*)$", CONTAINERFILE, re.MULTILINE) == ["grader"]


@pytest.mark.slow
def test_the_health_check_reads_what_the_status_of_watch_says(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    command = ["gradekit", "watch", "--status", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert '"running":false' in done.stdout, done.stderr
    hub = yaml.safe_load((KUBERNETES / "watch-values.yaml").read_text())["hub"]
    for probe in (CONTAINERFILE, hub["extraContainers"][0]["livenessProbe"]["exec"]["command"][2]):
        assert f"{' '.join(command)} | grep --quiet '\"running\":true'" in probe


def test_the_development_container_is_made_from_this_image():
    written = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    build, folder = written["build"], ROOT / ".devcontainer"
    assert (folder / build["dockerfile"]).resolve() == ROOT / "deploy/image/Containerfile"
    assert (folder / build["context"]).resolve() == ROOT
    assert set(build["args"]) <= set(re.findall(r"^ARG (\w+)", CONTAINERFILE, re.MULTILINE))


def test_the_job_of_a_class_is_valid():
    validate(yaml.safe_load((KUBERNETES / "grade-class.yaml").read_text()))


def test_what_the_values_add_to_the_hub_is_a_valid_pod():
    hub = yaml.safe_load((KUBERNETES / "watch-values.yaml").read_text())["hub"]
    spec = {"containers": hub["extraContainers"], "volumes": hub["extraVolumes"], **hub["extraPodSpec"]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "hub"}, "spec": spec}
    validate(pod)
    spec["containers"][0]["securityContext"]["procMount"] = True
    with pytest.raises(kubernetes_validate.ValidationError):
        validate(pod)


@pytest.mark.parametrize("name", ["grade-class.yaml", "watch-values.yaml"])
def test_pods_allow_what_bubblewrap_needs_and_nothing_more(name):
    text = (KUBERNETES / name).read_text()
    needed = ("hostUsers: false", "procMount: Unmasked", "type: Unconfined")
    kept = ("runAsNonRoot: true", "allowPrivilegeEscalation: false", "drop: [ALL]")
    assert [line for line in (*needed, *kept) if line not in text] == []
