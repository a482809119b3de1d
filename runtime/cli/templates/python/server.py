import os
import signal
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def reply(body: bytes) -> bytes:
    """Replies to one call. Change this."""
    return b"Hello, " + (body or b"world") + b"!\n"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        if self.path in ("/_/ready", "/_/health"):
            return self.send(200, b"OK\n")
        try:
            self.send(200, reply(self.read_body()))
        except Exception:
            traceback.print_exc()
            self.send(500, b"Cannot reply\n")

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_POST

    def read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        return body

    def send(self, status: int, body: bytes):
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_request(self, code="-", size="-"):
        if self.path not in ("/_/ready", "/_/health"):
            print(self.headers.get("X-Call-Id", "-"), self.command, self.path, int(code), flush=True)


class Server(ThreadingHTTPServer):
    daemon_threads = False  # calls that have begun are replied to before the process ends


if __name__ == "__main__":
    address = (os.environ.get("HOST", ""), int(os.environ.get("PORT", "8080")))
    with Server(address, Handler) as server:
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
        print(f"listening on port {server.server_port}", flush=True)
        server.serve_forever()
