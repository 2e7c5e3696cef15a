"""A headless Chromium for tests: opens a page, runs scripts in it, clicks, takes pictures.

Uses the DevTools protocol with the websocket client of tornado, a dependency of `distributed`.
If no browser is installed, the test is skipped with a reason.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import shutil
import subprocess
import urllib.request
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PATIENCE = 60.0  # seconds for one answer


class Browser:
    """One browser with one page; `close` ends it."""

    def __init__(self, folder: Path) -> None:
        websocket = pytest.importorskip("tornado.websocket", reason="needs tornado")
        program = next(filter(None, map(shutil.which, _NAMES)), None)
        if program is None:
            pytest.skip("needs Chromium (apt-get install chromium)")
        self.process = subprocess.Popen(
            [
                program,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--remote-debugging-port=0",
                "--remote-allow-origins=*",
                f"--user-data-dir={folder}",
                "about:blank",
            ],
            stderr=subprocess.PIPE,
            text=True,
        )
        self.loop = asyncio.new_event_loop()
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._answers: dict[int, asyncio.Future] = {}
        self._number = 0
        port = self._port()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=30) as reply:
            pages = [page for page in json.load(reply) if page["type"] == "page"]
        address = pages[0]["webSocketDebuggerUrl"]
        self.socket = self.loop.run_until_complete(_connected(websocket, address))
        self.reader = self.loop.create_task(self._read())
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _port(self) -> int:
        for line in self.process.stderr:
            found = re.search(r"ws://127\.0\.0\.1:(\d+)/", line)
            if found:
                return int(found[1])
        raise RuntimeError("The browser ended before it could be reached.")

    async def _read(self) -> None:
        while True:
            text = await self.socket.read_message()
            if text is None:
                return
            message = json.loads(text)
            if "id" in message:
                self._answers.pop(message["id"]).set_result(message)
            else:
                self._note(message["method"], message.get("params", {}))

    def _note(self, method: str, params: dict) -> None:
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.errors.append(str(params["args"])[:500])
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"][:200])
        elif method == "Page.javascriptDialogOpening":
            self.errors.append(f"dialog: {params['message']}")
            self._number += 1
            self.loop.create_task(
                self._send(self._number, "Page.handleJavaScriptDialog", {"accept": True})
            )

    async def _send(self, number: int, method: str, params: dict) -> dict:
        answer = self.loop.create_future()
        self._answers[number] = answer
        await self.socket.write_message(
            json.dumps({"id": number, "method": method, "params": params})
        )
        return await asyncio.wait_for(answer, _PATIENCE)

    def call(self, method: str, **params) -> dict:
        """Send one command of the protocol; returns the answer."""
        self._number += 1
        message = self.loop.run_until_complete(self._send(self._number, method, params))
        assert "error" not in message, message
        return message["result"]

    def open(self, path: Path) -> None:
        """Load a file and wait until its scripts have run."""
        self.errors.clear()
        self.requests.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        for _ in range(600):
            if self.run("document.readyState") == "complete":
                return
            self.loop.run_until_complete(asyncio.sleep(0.05))
        raise AssertionError("The page did not load.")

    def run(self, script: str):
        """The value of an expression in the page."""
        found = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def size(self, width: int, height: int, dark: bool = False) -> None:
        """Set the size of the window and the preferred colour scheme."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.call("Emulation.setScrollbarsHidden", hidden=True)
        scheme = "dark" if dark else "light"
        self.call(
            "Emulation.setEmulatedMedia",
            media="",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def at(self, selector: str) -> tuple[float, float]:
        """Scroll to an element; returns its centre."""
        x, y = self.run(
            f"(() => {{const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]})()"
        )
        return x, y

    def move(self, x: float, y: float) -> None:
        """Move the pointer."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector: str) -> None:
        """Click on the centre of an element."""
        x, y = self.at(selector)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """Press a key."""
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode={"ArrowRight": 39, "Enter": 13, "Tab": 9}.get(key, 0),
            )

    def type(self, text: str) -> None:
        """Type text into the element with the focus."""
        self.call("Input.insertText", text=text)

    def picture(self, whole: bool = True) -> bytes:
        """A screenshot as PNG."""
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(found["data"])

    def close(self) -> None:
        """End the browser process."""
        self.reader.cancel()
        self.loop.run_until_complete(asyncio.gather(self.reader, return_exceptions=True))
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.process.stderr.close()
        self.loop.close()


async def _connected(websocket, address: str):
    return await websocket.websocket_connect(address, max_message_size=2**28)
