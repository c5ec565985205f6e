"""The files that a kernel gets in its home folder: links are followed, and what doesn't exist is named."""

import io
import tarfile

import pytest
from jupyter_client.manager import KernelManager
from traitlets.config import Config

from sandbox_kernel import COLD, LIMITED, SANDBOX, start
from sandbox_kernel.environment import WorkingFiles, make_home, pack_home


def test_of_a_link_among_the_files_the_kernel_gets_what_it_leads_to(tmp_path):
    (tmp_path / "shared.csv").write_text("1,2")
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "link.csv").symlink_to(tmp_path / "shared.csv")
    packed = io.BytesIO()
    pack_home(packed, WorkingFiles([str(folder), str(folder / "link.csv")], ()))
    packed.seek(0)
    with tarfile.open(fileobj=packed) as archive:
        members = {member.name: member for member in archive}
        for name in ("data/link.csv", "link.csv"):
            assert members[name].isreg()
            assert archive.extractfile(members[name]).read() == b"1,2"


def test_links_that_lead_nowhere_or_in_a_circle_are_not_copied(tmp_path):
    folder = tmp_path / "data"
    (folder / "inner").mkdir(parents=True)
    (folder / "table.csv").write_text("1,2")
    (folder / "notes.txt").write_text("left out")
    (folder / ".#table.csv").symlink_to("someone@somewhere.1")  # an editor's lock
    (folder / "inner" / "up").symlink_to(folder)
    (folder / "itself").symlink_to("itself")
    files = WorkingFiles([str(folder)], ["*.txt"])
    packed = io.BytesIO()
    pack_home(packed, files)
    packed.seek(0)
    with tarfile.open(fileobj=packed) as archive:
        names = [name for name in archive.getnames() if not name.startswith(".matplotlib")]
    make_home(tmp_path / "home", files)
    copied = [str(path.relative_to(tmp_path / "home")) for path in (tmp_path / "home" / "data").rglob("*")]
    assert names == ["data", "data/inner", "data/table.csv"] == ["data", *sorted(copied)]


@pytest.mark.parametrize("kernel", [SANDBOX, COLD, LIMITED])
def test_a_working_file_that_does_not_exist_is_named(kernel, tmp_path):
    config = Config(WatchedProvisioner={"working_files": [str(tmp_path / "data.csv")]})
    manager = KernelManager(kernel_name=kernel, config=config)
    with pytest.raises(start.StartFailed, match=r"`working_files`: .*data\.csv does not exist"):
        manager.start_kernel()
