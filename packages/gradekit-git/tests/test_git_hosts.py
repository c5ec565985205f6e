"""Results that are sent to a host's REST API, against the calls in samples/git_hosts.json."""

import os
from typing import Any

import pytest

from gradekit_git.hosts import Host, HostError
from gradekit_git.store import GitStore, Outgoing

from .host_contracts import ContractServer

KINDS = ("github", "gitlab", "forgejo")
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(params=KINDS)
def contract(request):
    found = ContractServer(request.param)
    found.kind = request.param
    yield found
    found.close()


def host(contract, **changes: Any) -> Host:
    values = {"kind": contract.kind, "address": contract.address, "token": "s3cret"} | changes
    return Host(**values)


def result(contract, score: float = 7.0) -> Outgoing:
    return Outgoing(
        f"{contract.address}/course/ada-01.git", COMMIT, "01_double", score >= 10, f"{score:g} of 10 points"
    )


def test_a_result_becomes_a_status_and_one_comment(contract):
    host(contract).send(result(contract))
    host(contract).send(result(contract))  # killed before the first was noted
    assert contract.statuses[0] == contract.calls["status"]["body"]
    assert contract.comments == ([contract.calls["comments"]["body"]] if contract.calls["comments"] else [])
    host(contract).send(result(contract, 10.0))
    assert contract.statuses[-1]["state"] == "success"


def test_nothing_is_told_where_everybody_can_read_it(contract):
    contract.visible = "public"
    with pytest.raises(HostError, match="everybody can read this repository") as refused:
        host(contract).send(result(contract))
    assert not refused.value.later
    assert (contract.statuses, contract.comments) == ([], [])
    host(contract, public=True).send(result(contract))
    assert len(contract.statuses) == 1


@pytest.mark.parametrize(
    ("code", "later"), [(500, True), (429, True), (404, False), (401, False), (302, False)], ids=str
)
def test_what_a_host_refuses_is_said_without_the_token(contract, code, later):
    contract.broken = [(code, {"message": "no s3cret here"})]
    with pytest.raises(HostError, match=str(code)) as refused:
        host(contract).send(result(contract))
    assert refused.value.later == later
    assert "s3cret" not in str(refused.value)
    assert len(contract.asked) == 1  # a redirect is not followed


def test_a_host_that_is_not_there_is_tried_later():
    nowhere = Host("github", "http://127.0.0.1:1", "s3cret")
    with pytest.raises(HostError, match="can't be reached") as refused:
        nowhere.send(Outgoing("http://127.0.0.1:1/a/b", COMMIT, "01_double", True, "1 of 1 point"))
    assert refused.value.later


def test_gitlab_that_has_the_status_already_is_content():
    found = ContractServer("gitlab")
    found.kind = "gitlab"
    reason = {"message": "Cannot transition status via :success from :success"}
    found.broken = [(200, {"visibility": "private"}), (400, reason)]
    host(found).send(result(found))
    assert len(found.comments) == 1
    found.close()


def test_a_result_of_another_host_is_not_sent(contract):
    found = host(contract)
    assert found.has(f"{contract.address}/course/ada-01")
    assert found.has("git@127.0.0.1:course/ada-01.git")
    assert not found.has("https://github.com.example.edu/course/ada-01")
    assert not found.has("https://example.edu/127.0.0.1/x")


def test_the_outbox_keeps_the_newest_result_until_it_is_sent(tmp_path, contract):
    from gradekit_git.fetching import Sender, do_job
    from gradekit_git.settings import Job

    values = dict.fromkeys(Job.__struct_fields__, "") | {
        "report": contract.kind,
        "host": contract.address,
        "token": "s3cret",
        "report_public": False,
    }
    store = GitStore(tmp_path)
    sender = Sender(Job(**values), store)
    store.post("ada", result(contract, 3.0))
    store.post("ada", result(contract))
    contract.broken = [(503, {})]
    sender.send_due()
    assert len(store.outgoing()) == 1
    sender.send_due()  # not due yet
    assert len(contract.asked) == 1
    Sender(Job(**values), GitStore(tmp_path)).send_due()  # the next command
    assert store.outgoing() == []
    assert contract.statuses == [contract.calls["status"]["body"]]
    store.post("ben", Outgoing(f"{contract.address}/course/none", COMMIT, "01_double", True, "1 of 1 point"))
    sender.send_due()
    assert store.outgoing() == []
    assert len(list(store.not_sent.iterdir())) == 1
    # a single command tries each, whatever becomes of the first
    store.post("ada", result(contract, 1.0))
    store.post("eve", result(contract, 2.0))
    contract.broken = [(503, {})]
    job = Job(**values | {"root": str(tmp_path), "mode": "deliver", "parent": os.getppid()})
    assert do_job(job) == 0
    assert [found.text for _, found in store.outgoing()] == ["1 of 10 points"]
