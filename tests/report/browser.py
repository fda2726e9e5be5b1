"""Chromium, driven over two pipes by its DevTools protocol: no port, no package, no driver."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

import pytest


class Page:
    """One page of a browser; what it asked of a network, and what it said on its console, is kept."""

    def __init__(self, answers: FileIO, commands: FileIO) -> None:
        self._answers, self._commands = answers, commands
        self._number, self._session = 0, None
        self._rest = b""
        self.requests: list[str] = []
        self.messages: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self._call(f"{domain}.enable")

    def open(self, file: Path, width: int = 1280, media: str = "", dark: bool = False) -> None:
        """Load a file and wait until its scripts have run."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self._call("Page.navigate", url=file.as_uri())
        while self._receive().get("method") != "Page.loadEventFired":
            pass

    def run(self, script: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        found = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def move(self, x: float, y: float) -> None:
        """Move the mouse."""
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector: str) -> None:
        """Press and release the mouse in the middle of an element."""
        x, y = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); "
            "e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str, code: int) -> None:
        """Press and release a key that writes nothing, by its name and its number in Windows."""
        for kind in ("rawKeyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def choose(self, selector: str, value: str) -> None:
        """Set a slider or a list to a value, as a user does."""
        self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); "
            f"e.value = {json.dumps(value)};"
            "for (const kind of ['input', 'change']) e.dispatchEvent(new Event(kind, {bubbles: true})); })()"
        )

    def text(self, selector: str) -> str:
        """What an element says."""
        return str(self.run(f"document.querySelector({json.dumps(selector)}).textContent"))

    def picture(self, file: Path) -> None:
        """Save the whole page as a PNG."""
        from base64 import b64decode

        found = self._call("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(b64decode(found["data"]))

    def print(self) -> bytes:
        """The page as the browser prints it."""
        from base64 import b64decode

        return b64decode(self._call("Page.printToPDF", preferCSSPageSize=True)["data"])

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._commands.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return dict(answer["result"])

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = self._answers.read(1 << 16)
            assert more, "the browser has gone"
            self._rest += more
        one, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(one)
        parameters = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
            case "Runtime.consoleAPICalled":
                self.messages.append(str(parameters["args"]))
            case "Runtime.exceptionThrown":
                self.messages.append(str(parameters["exceptionDetails"]))
            case "Log.entryAdded":
                self.messages.append(parameters["entry"]["text"])
        return message


@contextmanager
def browsing(profile: Path) -> Iterator[Page]:
    """Start a browser with a page; skip the test where there is none."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium to open the report in")
    in_reads, in_writes = os.pipe()
    out_reads, out_writes = os.pipe()
    options = "--headless --no-sandbox --disable-gpu --remote-debugging-pipe --no-first-run"
    # The browser reads commands from descriptor 3 and writes answers to descriptor 4.
    command = f'exec "$0" {options} --user-data-dir="$1" 3<&{in_reads} 4>&{out_writes}'
    running = subprocess.Popen(
        ["bash", "-c", command, program, str(profile)],
        pass_fds=(in_reads, out_writes),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(in_reads)
    os.close(out_writes)
    with (
        os.fdopen(out_reads, "rb", buffering=0) as answers,
        os.fdopen(in_writes, "wb", buffering=0) as commands,
    ):
        try:
            yield Page(answers, commands)
        finally:
            running.terminate()
            running.wait(20)
