"""A thin client for the REST APIs of GitHub, GitLab and Forgejo: the status of a commit, and a comment on it.

Written from their public documentation: docs.github.com/rest (commits/statuses, commits/comments, repos/repos),
docs.gitlab.com/api (commits, projects), and Forgejo's own description of its API (repoCreateStatus, repoGet).
"""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from gradekit_git.roster import host_and_path
from gradekit_git.runner.send import NoRedirects
from gradekit_git.store import Outgoing

_SECONDS = 15
_ANSWER_BYTES = 4 * 2**20
_DESCRIPTION = 140
_CONTEXT = "gradekit"


class HostError(Exception):
    """The host did not take a result; the message says why. `later` is false if it never will."""

    def __init__(self, reason: str, later: bool) -> None:
        super().__init__(reason)
        self.later = later


class _Api(NamedTuple):
    """How one kind of host is spoken to."""

    base: str
    headers: dict[str, str]
    repository: str
    status: str
    #: empty if it has none
    comments: str


@dataclass(frozen=True)
class Host:
    """The host of repositories.

    Args:
        kind: "github", "gitlab" or "forgejo".
        address: such as https://github.com.
        public: whether to send results where everybody can read the repository.
    """

    kind: str
    address: str
    token: str = field(repr=False)
    public: bool = False

    def has(self, remote: str) -> bool:
        """Whether a repository is on this host."""
        return host_and_path(remote)[0] == (urlsplit(self.address).hostname or "").casefold()

    def send(self, outgoing: Outgoing) -> None:
        """Set the status of the commit, and comment on it once.

        Raises:
            HostError: the host refuses, or can't be reached.
        """
        api = self._api(outgoing)
        if not self.public and not self._is_private(api):
            raise HostError(
                "everybody can read this repository, so its result isn't sent; c.GitHandIns.report_public = True sends it",
                later=False,
            )
        self._set_status(api, outgoing)
        if api.comments:
            self._comment(api, outgoing)

    def _api(self, outgoing: Outgoing) -> _Api:
        path, commit = host_and_path(outgoing.remote)[1], quote(outgoing.commit, safe="")
        address, repository = self.address.rstrip("/"), f"/repos/{quote(path)}"
        comments = ""
        if self.kind == "github":
            base = f"{address}/api/v3"
            if urlsplit(address).hostname == "github.com":
                base = "https://api.github.com"
            headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/vnd.github+json"}
            headers["X-GitHub-Api-Version"] = "2022-11-28"
            comments = f"{repository}/commits/{commit}/comments"
        elif self.kind == "gitlab":
            base, headers = f"{address}/api/v4", {"PRIVATE-TOKEN": self.token}
            repository = f"/projects/{quote(path, safe='')}"
            comments = f"{repository}/repository/commits/{commit}/comments"
        else:
            base, headers = f"{address}/api/v1", {"Authorization": f"token {self.token}"}
        return _Api(base, headers, repository, f"{repository}/statuses/{commit}", comments)

    def _is_private(self, api: _Api) -> bool:
        found = self._ask(api, "GET", api.repository)
        if not isinstance(found, dict):
            raise HostError("the host's answer about the repository can't be read", later=True)
        if self.kind == "gitlab":
            return found.get("visibility") == "private"
        return found.get("private") is True

    def _set_status(self, api: _Api, outgoing: Outgoing) -> None:
        failed, context = ("failed", "name") if self.kind == "gitlab" else ("failure", "context")
        body = {
            "state": "success" if outgoing.right else failed,
            "description": outgoing.text[:_DESCRIPTION],
            context: f"{_CONTEXT}/{outgoing.assignment}",
        }
        try:
            self._ask(api, "POST", api.status, body)
        except HostError as error:
            # GitLab refuses to set the state that it has: the status is there already
            if not (self.kind == "gitlab" and "Cannot transition status" in str(error)):
                raise

    def _comment(self, api: _Api, outgoing: Outgoing) -> None:
        """Comment, unless the same comment is there: the process may have been killed after it had been sent."""
        key = "note" if self.kind == "gitlab" else "body"
        text = f"{outgoing.assignment}: {outgoing.text}"
        found = self._ask(api, "GET", f"{api.comments}?per_page=100")
        comments = found if isinstance(found, list) else []
        if not any(isinstance(each, dict) and each.get(key) == text for each in comments):
            self._ask(api, "POST", api.comments, {key: text})

    def _ask(self, api: _Api, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        request = urllib.request.Request(
            f"{api.base}{path}",
            None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json", "User-Agent": "gradekit-git", **api.headers},
            method=method,
        )
        opener = urllib.request.build_opener(NoRedirects)
        try:
            with opener.open(request, timeout=_SECONDS) as answer:
                return json.loads(answer.read(_ANSWER_BYTES) or b"null")
        except urllib.error.HTTPError as error:
            with error:
                told = error.read(2000).decode(errors="replace")
            is_limit = "Retry-After" in error.headers or error.headers.get("X-RateLimit-Remaining") == "0"
            later = error.code in (408, 429) or error.code >= 500 or (error.code == 403 and is_limit)
            reason = f"{method} {path} was answered with {error.code}: {_message_in(told)}"
            raise HostError(reason.replace(self.token, "…"), later) from None
        except (OSError, ValueError) as error:
            reason = f"{urlsplit(api.base).netloc} can't be reached or understood: {error}"
            raise HostError(reason.replace(self.token, "…"), later=True) from None


def _message_in(answer: str) -> str:
    """The message in an answer, which all three hosts call by this name."""
    try:
        found = json.loads(answer)
    except ValueError:
        return answer[:200]
    return str(found.get("message", answer[:200]) if isinstance(found, dict) else answer[:200])[:200]
