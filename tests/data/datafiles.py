"""Tiny files and a web server for the tests of the data sets."""

import io
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TINY_TRAIN = """\
# a comment
@problemName Tiny
@timeStamps false
@missing false
@univariate false
@dimensions 2
@equalLength true
@seriesLength 3
@classLabel true Up down
@data
1,2,3:10,20,30:Up
4.5,5e-1,-6:40,50,60:down
1,1,1:2,2,2:Up
"""
TINY_TEST = TINY_TRAIN.replace("1,2,3:10,20,30:Up", "7,8,9:70,80,90:down")


def make_zip(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


class Server:
    """A web server on the loopback interface with good and bad manners, chosen by the path."""

    def __init__(self):
        self.files: dict[str, bytes] = {}
        self.hits: list[str] = []
        self.failures = 0  # how many of the next answers are 500
        self.half_sent, self.over = threading.Event(), threading.Event()
        handler = type("Handler", (_Handler,), {"server_": self})
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.over.set()
        self.http.shutdown()
        self.http.server_close()

    def put(self, path, content):
        self.files[path] = content
        return f"{self.url}/{path}"


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_GET(self):
        server = self.server_
        manner, _, name = self.path.strip("/").rpartition("/")
        server.hits.append(self.path)
        if server.failures:
            server.failures -= 1
            return self.send_error(500)
        if manner == "redirect":
            self.send_response(302)
            self.send_header("Location", f"/{name}")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if name not in server.files or manner == "404":
            return self.send_error(404)
        if manner == "500":
            return self.send_error(500)
        return self._send(server.files[name], manner)

    def _send(self, content, manner):
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        half = len(content) // 2
        try:
            self.wfile.write(content[:half])
            self.wfile.flush()
            self.server_.half_sent.set()
            if manner == "truncate":
                self.close_connection = True
                return
            if manner == "stall":
                self.server_.over.wait()
            time.sleep(0.6 * (manner == "slow"))
            if manner == "drip":
                for i in range(half, len(content)):
                    time.sleep(0.1)
                    self.wfile.write(content[i : i + 1])
            else:
                self.wfile.write(content[half:])
        except ConnectionError:
            pass  # the client was killed or gave up
