"""A hub on a loopback port: the API about one repository, and its files with ranges."""

from __future__ import annotations

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class HubServer:
    """Serves `files` (path to bytes) of `repo`; a file's bytes wait at `hold_at` until `released` is set."""

    def __init__(self, repo: str, files: dict[str, bytes], hold_at: int | None = None) -> None:
        self.repo = repo
        self.files = files
        self.hold_at = hold_at
        self.held = threading.Event()
        self.released = threading.Event()
        self.file_requests = 0
        self.body_bytes = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer._answer(self)

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, request: object, client_address: object) -> None:
                pass  # a client that goes in the middle is what the tests are about

        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> HubServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _facts(self) -> bytes:
        siblings = [
            {"rfilename": path, "lfs": {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}}
            for path, content in self.files.items()
        ]
        return json.dumps({"id": self.repo, "sha": COMMIT, "siblings": siblings}).encode()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        path = handler.path
        if path == f"/api/models/{self.repo}/revision/main?blobs=true":
            self._send(handler, 200, self._facts())
        elif path.startswith("/api/models?search="):
            self._send(handler, 200, json.dumps([{"id": self.repo}]).encode())
        elif path.startswith(prefix := f"/{self.repo}/resolve/{COMMIT}/") and path[len(prefix) :] in self.files:
            self._send_file(handler, self.files[path[len(prefix) :]])
        else:
            self._send(handler, 404, b"")

    def _send(self, handler: BaseHTTPRequestHandler, status: int, body: bytes) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def _send_file(self, handler: BaseHTTPRequestHandler, content: bytes) -> None:
        self.file_requests += 1
        begin = int(handler.headers.get("Range", "bytes=0-")[len("bytes=") :].rstrip("-"))
        handler.send_response(206 if begin else 200)
        handler.send_header("Content-Length", str(len(content) - begin))
        if begin:
            handler.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        handler.end_headers()
        try:
            if self.hold_at is not None and begin < self.hold_at:
                handler.wfile.write(content[begin : self.hold_at])
                handler.wfile.flush()
                self.body_bytes += self.hold_at - begin
                begin = self.hold_at
                self.held.set()
                self.released.wait()
            handler.wfile.write(content[begin:])
            self.body_bytes += len(content) - begin
        except (BrokenPipeError, ConnectionResetError):
            handler.close_connection = True
