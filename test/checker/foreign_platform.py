"""A platform in another language: Python 3.8 or later, with the standard library alone.

foreign_platform.py PORT BASE_URL FILE: sends pushes in batches of 10, and on-site notifications one at a time.
The queue is in FILE, an SQLite database, and outlives the process.
POST /push, /site: enqueues a record in each line. GET /failed: Failed Actions. GET /devices/USER: its tokens. POST /reconcile/FIELD: 200 if the list is used, else 409.
"""

import base64
import hashlib
import hmac
import http.client
import json
import random
import sqlite3
import sys
import threading
import time
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

KEY, LINK_KEY, SECRET = "key-of-the-python-platform", "key-for-links-of-python", bytes([1]) * 32
STATUSES = "accepted sent delivered displayed opened dismissed archived clicked failed expired".split()
BATCH, SPAN, TIMEOUT = 10, 0.05, 3
port, base = int(sys.argv[1]), urlsplit(sys.argv[2])
failed_actions = []
store = sqlite3.connect(sys.argv[3], isolation_level=None, check_same_thread=False)
store.execute("CREATE TABLE IF NOT EXISTS queue (path TEXT, id INTEGER, text TEXT)")
storing = threading.Lock()


def call(path, body):
    """Returns status, Retry-After and text; a status of 0 if there is no complete answer."""
    connection = http.client.HTTPConnection(base.hostname, base.port, timeout=TIMEOUT)
    try:
        headers = {"Content-Type": "application/json; charset=utf-8", "X-Api-Key": KEY}
        connection.request("POST", base.path + path, body.encode(), headers)
        answer = connection.getresponse()
        return answer.status, float(answer.getheader("Retry-After") or 0), answer.read().decode()
    except (OSError, http.client.HTTPException):
        return 0, 0, ""
    finally:
        connection.close()


class Lane(threading.Thread):
    def __init__(self, channel, most):
        super().__init__(daemon=True)
        self.path = f"/channels/{channel}/{'batch' if most > 1 else 'single'}"
        self.most, self.changed = most, threading.Condition()
        stored = store.execute("SELECT text FROM queue WHERE path = ?", [self.path]).fetchall()
        self.waiting = [self.message(text) for (text,) in stored]

    @staticmethod
    def message(text):
        return {"text": text, "id": json.loads(text)["activity"]["id"], "due": 0, "attempts": 0}

    def enqueue(self, lines):
        with self.changed:
            messages = [self.message(line) for line in lines]
            with storing:
                store.executemany("INSERT INTO queue VALUES (?, ?, ?)", [(self.path, each["id"], each["text"]) for each in messages])
            self.waiting += messages
            self.changed.notify()

    def next_batch(self):
        since = None
        with self.changed:
            while True:
                now = time.monotonic()
                due = [message for message in self.waiting if message["due"] <= now]
                since = (since or now) if due else None
                if len(due) >= self.most or (due and now - since >= SPAN):
                    return due[: self.most]
                self.changed.wait(0.01)

    def run(self):
        while True:
            batch = self.next_batch()
            texts = [message["text"] for message in batch]
            status, retry_after, text = call(self.path, texts[0] if self.most == 1 else "[" + ",".join(texts) + "]")
            outcomes = self.single(status) if self.most == 1 else self.batch(status, text, batch)
            with self.changed:
                for message, outcome in zip(batch, outcomes):
                    message["attempts"] += 1
                    if outcome == "retry":
                        pause = min(0.5, 0.05 * 2 ** message["attempts"]) * random.uniform(0.5, 1)
                        message["due"] = time.monotonic() + max(retry_after, pause)
                        continue
                    self.waiting.remove(message)
                    with storing:
                        store.execute("DELETE FROM queue WHERE path = ? AND id = ?", [self.path, message["id"]])
                    if outcome == "failed":
                        failed_actions.append(message["id"])

    @staticmethod
    def single(status):
        return ["successful" if 200 <= status < 300 else "failed" if 400 <= status < 500 else "retry"]

    @staticmethod
    def batch(status, text, batch):
        try:
            answer = json.loads(text) if status == 200 else {}
        except ValueError:
            answer = {}
        found = {item["id"]: name for name in ("failed", "successful") for item in answer.get(name) or []}
        return [found.get(message["id"], "retry") for message in batch]


def reconcile(field):
    status, _, text = call("/reconciliation", json.dumps({"field": field}))
    try:
        answer = json.loads(text) if status == 200 else {}
    except ValueError:
        answer = {}
    return isinstance(answer.get("users"), list) and "error" not in answer and "timestamp" in answer


class Devices:
    def __init__(self):
        self.times = {}

    def take(self, what, text):
        try:
            record = json.loads(text)
            at = datetime.fromisoformat(record["timestamp"].replace("Z", "+00:00"))
            for each in record["tokens"]:
                times = self.times.setdefault((record["user_id"], each["token"]), {})
                times[what] = max(at, times.get(what, at))
            return 200
        except (ValueError, KeyError, TypeError):
            return 400

    def tokens(self, user):
        return [token for (owner, token), times in self.times.items() if owner == user and self.is_linked(times) and self.is_latest(token, times)]

    def is_latest(self, token, times):
        links = [others["link"] for (_, other), others in self.times.items() if other == token and "link" in others]
        return times["link"] == max(links)

    @staticmethod
    def is_linked(times):
        return "link" in times and ("unlink" not in times or times["link"] > times["unlink"])


def take_statuses(headers, body):
    identifier, at = headers.get("Webhook-Id", ""), headers.get("Webhook-Timestamp", "0")
    signed = hmac.new(SECRET, f"{identifier}.{at}.{body}".encode(), hashlib.sha256).digest()
    signatures = headers.get("Webhook-Signature", "").split(" ")
    if not any(hmac.compare_digest(each, "v1," + base64.b64encode(signed).decode()) for each in signatures):
        return 401
    if abs(time.time() - int(at)) > 300:
        return 401
    read = json.loads(body)
    records = read if isinstance(read, list) else [read]
    return 200 if all(record["status"] in STATUSES for record in records) else 400


devices = Devices()
lanes = {"push": Lane("push", BATCH), "site": Lane("site", 1)}


class Control(BaseHTTPRequestHandler):
    def reply(self, status, text=""):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        if self.path.startswith("/devices/"):
            return self.reply(200, "\n".join(devices.tokens(self.path.rsplit("/", 1)[1])))
        self.reply(200, "\n".join(map(str, failed_actions)))

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if length > 4 * 1024 * 1024:
            self.close_connection = True
            return self.reply(413)
        body = self.rfile.read(length).decode()
        if self.path == "/v1/integration/message/status":
            return self.reply(take_statuses(self.headers, body))
        if self.path.startswith("/v1/integration/user/device/"):
            known = self.headers.get("X-Api-Key") == LINK_KEY
            return self.reply(devices.take(self.path.rsplit("/", 1)[1], body) if known else 401)
        if self.path.startswith("/reconcile/"):
            return self.reply(200 if reconcile(self.path.rsplit("/", 1)[1]) else 409)
        lanes[self.path[1:]].enqueue(body.splitlines())
        self.reply(200)

    def log_message(self, *_):
        pass


for lane in lanes.values():
    lane.start()
server = ThreadingHTTPServer(("127.0.0.1", port), Control)
print("listening", flush=True)
server.serve_forever()
