"""A page as a headless Chromium sees it: driven over a pipe by the browser's own protocol
(https://chromedevtools.github.io/devtools-protocol), so that nothing but the browser is needed."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from suite import mpi as m
from suite.verdict import Failed

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_SECONDS_MAX = 180.0
# The protocol's pipe is descriptors 3 and 4; only bash names descriptors of several digits.
_ON_PIPE = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'


class Browser:
    """The window that was opened last. `seen`: all events since then, in order."""

    def __init__(self, requests: int, answers: int) -> None:
        self.seen: list[dict[str, Any]] = []
        self._requests = requests
        self._answers = answers
        self._numbers = itertools.count(1)
        self._rest = b""
        self._session = ""

    def open(self, path: Path, *, width: int, height: int) -> None:
        """Loads the page to its end, in a new window if there is one already."""
        self._session = ""
        target = self.do("Target.createTarget", url="about:blank")["targetId"]
        attached = self.do("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.do(f"{domain}.enable")
        self.do(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.seen.clear()
        self.do("Page.navigate", url=path.resolve().as_uri())
        self._until(lambda one: one.get("method") == "Page.loadEventFired")

    def evaluate(self, script: str) -> Any:
        """The value of an expression on the page."""
        answer = self.do("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise Failed(f"the test's own script failed: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def screenshot(self, path: Path) -> None:
        """All of the page."""
        size = self.do("Page.getLayoutMetrics")["cssContentSize"]
        picture = self.do(
            "Page.captureScreenshot", captureBeyondViewport=True, clip={**size, "scale": 1}
        )
        path.write_bytes(base64.b64decode(picture["data"]))

    def events(self, method: str) -> list[dict[str, Any]]:
        """The browser's events of `method` since the page was opened."""
        return [one["params"] for one in self.seen if one.get("method") == method]

    def do(self, method: str, **parameters: object) -> Mapping[str, Any]:
        """Asks, and waits for the answer."""
        number = next(self._numbers)
        words = {"id": number, "method": method, "params": parameters}
        if self._session:
            words["sessionId"] = self._session
        os.write(self._requests, json.dumps(words).encode() + b"\0")
        answer = self._until(lambda one: one.get("id") == number)
        if "error" in answer:
            raise Failed(f"the browser refused {method}: {answer['error']}")
        return dict(answer["result"])

    def _until(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        end = time.monotonic() + _SECONDS_MAX
        while True:
            message, found, rest = self._rest.partition(b"\0")
            if found:
                self._rest = rest
                said = dict(json.loads(message))
                self.seen.append(said)
                if is_it(said):
                    return said
                continue
            ready, _, _ = select.select([self._answers], [], [], max(0.0, end - time.monotonic()))
            more = os.read(self._answers, 1 << 20) if ready else b""
            if not more:
                raise Failed("the browser says nothing more. See its errors in the test's folder.")
            self._rest += more


@contextlib.contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Without a network, and with its files below `folder`; skips where there is none."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("no Chromium here. Run tools/ci/packages.sh all.")
    options = [
        "--headless",
        "--remote-debugging-pipe",
        f"--user-data-dir={folder / 'browser'}",
        "--no-first-run",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
    ]
    theirs_in, requests = os.pipe()
    answers, theirs_out = os.pipe()
    with (folder / "browser-said").open("w") as said:
        process = subprocess.Popen(
            ["bash", "-c", _ON_PIPE, "bash", str(theirs_in), str(theirs_out), program, *options],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            pass_fds=(theirs_in, theirs_out),
            start_new_session=True,
            env={**m.clean_environment(), "HOME": str(folder)},
        )
        os.close(theirs_in)
        os.close(theirs_out)
        try:
            yield Browser(requests, answers)
        finally:
            m.end_group(process)
            os.close(requests)
            os.close(answers)
