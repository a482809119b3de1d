import threading
import unittest
import urllib.request

from server import Handler, Server


class ServerTest(unittest.TestCase):
    def setUp(self):
        self.server = Server(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever).start()

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()

    def test_it_is_ready(self):
        with urllib.request.urlopen(f"{self.address}/_/ready") as response:
            self.assertEqual(response.status, 200)

    def test_it_replies(self):
        with urllib.request.urlopen(self.address, data=b"hi") as response:
            self.assertEqual(response.read(), b"Hello, hi!\n")


if __name__ == "__main__":
    unittest.main()
