"""How fast is the mock server itself? A raw socket client that only counts bytes.

    python ceiling.py http://127.0.0.1:8765

If these numbers are not far above the fastest peer's, the benchmark measures the server.
"""

import json
import socket
import sys
import time


def request(sock: socket.socket, path: str, body: dict) -> bytes:
    payload = json.dumps(body).encode()
    sock.sendall(
        b"POST %b HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%b" % (path.encode(), len(payload), payload)
    )
    parts, tail = [], b""
    while not tail.endswith(b"0\r\n\r\n"):
        parts.append(sock.recv(1 << 18))
        tail = (tail + parts[-1])[-5:]
    return b"".join(parts)


def main(base_url: str):
    host, port = base_url.removeprefix("http://").split(":")
    sock = socket.create_connection((host, int(port)))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    say = [{"role": "user", "content": "hi"}]
    for path, key in [("/v1/chat/completions", "messages"), ("/v1/messages", "messages"), ("/v1/responses", "input")]:
        body = {"model": "text-4000", "stream": True, key: say}
        size = len(request(sock, path, body))  # renders and caches
        times = []
        for _ in range(20):
            start = time.perf_counter()
            request(sock, path, body)
            times.append(time.perf_counter() - start)
        best = sorted(times)[len(times) // 2]
        rates = f"{4000 / best / 1e6:5.2f} M deltas/s, {size / best / 1e6:6.0f} MB/s"
        print(f"{path:22} text-4000: {best * 1e3:6.2f} ms, {rates}")
    body = {"model": "text-1", "stream": True, "messages": say}
    start = time.perf_counter()
    for _ in range(2000):
        request(sock, "/v1/chat/completions", body)
    print(f"one-delta turns: {(time.perf_counter() - start) / 2000 * 1e6:.0f} us each")


main(sys.argv[1])
