"""Pages in the tests reach this machine's own servers, and nothing else."""

from playwright.sync_api import BrowserContext, Route

_HERE = ("file:", "data:", "blob:", "http://127.0.0.1", "http://localhost", "ws://127.0.0.1")


def take_offline(context: BrowserContext) -> list[str]:
    """Refuse everything from elsewhere; return a list to which the refused addresses are added."""
    refused: list[str] = []

    def guard(route: Route) -> None:
        url = route.request.url
        if url.startswith(_HERE):
            route.continue_()
        else:
            refused.append(url)
            route.abort()

    context.route("**/*", guard)
    return refused
