import csv
import io
import json
import os
import signal
import threading
from decimal import Decimal, InvalidOperation
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


def report(text: str) -> dict:
    """Sums up lines of the form product,quantity,price."""
    totals: dict[str, Decimal] = {}
    for product, quantity, price in csv.reader(io.StringIO(text)):
        totals[product] = totals.get(product, Decimal(0)) + int(quantity) * Decimal(price)
    return {"total": str(sum(totals.values())), "products": {name: str(total) for name, total in totals.items()}}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.read_body()
        # Stands for a source that is not ready at first: the queue calls again, and counts.
        unready = int(parse_qs(urlsplit(self.path).query).get("unready", ["0"])[0])
        if int(self.headers.get("X-Call-Attempt", "1")) <= unready:
            return self.send(503, {"error": "The prices are not there yet"}, {"Retry-After": "1"})
        try:
            self.send(200, report(body.decode()))
        except (ValueError, InvalidOperation):
            # Not a status that is retried: the next run would fail, too.
            self.send(422, {"error": "Send lines of the form product,quantity,price"})

    def read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        return body

    def send(self, status: int, content: dict, headers: dict = {}):
        body = json.dumps(content, indent=2).encode() + b"\n"
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": len(body), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code="-", size="-"):
        attempt = self.headers.get("X-Call-Attempt", "-")
        print("call", self.headers.get("X-Call-Id", "-"), "run", attempt, int(code), flush=True)


class Server(ThreadingHTTPServer):
    daemon_threads = False  # calls that have begun are replied to before the process ends


if __name__ == "__main__":
    with Server(("127.0.0.1", int(os.environ["PORT"])), Handler) as server:
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
        server.serve_forever()
