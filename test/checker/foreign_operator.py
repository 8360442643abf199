"""A small correct operator in Python, of its standard library alone: python3 foreign_operator.py PORT DATABASE [FAULT]

The tests start it, to show that the checker judges implementations in any language. FAULT is one of:
early    answers a refused key or path before it reads the body
crash    closes the connection if the body has no activity, or no field
http10   answers with HTTP/1.0, which is no fault
html     a proxy in front of it replaces each error record by a page
floats   returns ids as floating-point numbers
"""

import json
import sqlite3
import sys
import threading
import uuid
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "key-of-the-python-operator"
LISTS = {"blocked": ["user-2", "user-9"], "excluded": [], "consent_push_notification": ["user-1"]}
IDENTIFIER = {"push": "push_id", "site": "site_notification_id"}
BATCH_MAX = 30
FAULT = sys.argv[3] if len(sys.argv) > 3 else ""

lock = threading.Lock()
database = sqlite3.connect(sys.argv[2], check_same_thread=False, isolation_level=None)
database.execute("create table if not exists delivered (key text primary key, identifier text not null)")


class Refused(Exception):
    def __init__(self, status, error):
        super().__init__(error)
        self.status = status


def check(record):
    activity = record.get("activity") if isinstance(record, dict) else None
    if not isinstance(activity, dict):
        raise Refused(400, "the record has no object activity")
    number = activity.get("id")
    is_integer = isinstance(number, int) and not isinstance(number, bool) and number >= 0
    if not is_integer and not (isinstance(number, str) and number):
        raise Refused(400, "activity.id must be an integer or a text")
    if not isinstance(activity.get("user_id"), str) or not activity["user_id"]:
        raise Refused(400, "activity.user_id must be a text")
    return activity


def deliver(channel, record):
    """Returns the identifier of the message. A repetition gets the first one."""
    activity = check(record)
    names = ("brand_id", "id", "user_id", "activity_id", "action_id", "trigger_hash")
    key = json.dumps([channel, *[str(activity.get(name)) for name in names]])
    with lock:
        found = database.execute("select identifier from delivered where key = ?", (key,)).fetchone()
        if found:
            return found[0]
        if activity["user_id"] in LISTS["blocked"]:
            raise Refused(422, "the user is blocked")
        if channel == "push" and activity["user_id"] == "user-3":
            raise Refused(422, "the user has no device")
        identifier = str(uuid.uuid4())
        database.execute("insert into delivered values (?, ?)", (key, identifier))
        return identifier


def single(channel, record):
    return 200, {IDENTIFIER[channel]: deliver(channel, record)}


def batch(channel, records):
    if not isinstance(records, list):
        raise Refused(400, "the body must be an array of records")
    answer = {"successful": [], "failed": [], "fatal": []}
    reported = set()
    for place, record in enumerate(records):
        activity = record.get("activity") if isinstance(record, dict) else None
        number = activity.get("id") if isinstance(activity, dict) else None
        if number is None or number in reported:
            continue
        reported.add(number)
        try:
            if place >= BATCH_MAX:
                answer["fatal"].append({"id": number, "error": f"a batch has at most {BATCH_MAX} messages"})
            else:
                returned = float(number) if FAULT == "floats" and isinstance(number, int) else number
                answer["successful"].append({"id": returned, IDENTIFIER[channel]: deliver(channel, record)})
        except Refused as refused:
            answer["failed"].append({"id": number, "error": str(refused)})
    return 200, answer


def reconcile(body):
    field = body.get("field") if isinstance(body, dict) else None
    if not isinstance(field, str):
        raise Refused(400, 'send {"field": "blocked"}')
    if field not in LISTS:
        raise Refused(501, f"there is no source of {field}")
    timestamp = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return 200, {"users": LISTS[field], "timestamp": timestamp}


ROUTES = {
    "/channels/push/single": lambda body: single("push", body),
    "/channels/push/batch": lambda body: batch("push", body),
    "/channels/site/single": lambda body: single("site", body),
    "/channels/site/batch": lambda body: batch("site", body),
    "/reconciliation": reconcile,
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0" if FAULT == "http10" else "HTTP/1.1"

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (ConnectionError, KeyError, ValueError):
            self.close_connection = True

    def do_POST(self):
        body = b"" if FAULT == "early" else self.read_body()
        try:
            route = ROUTES.get(self.path)
            if route is None:
                raise Refused(404, "no such path")
            if self.headers.get("X-Api-Key") != KEY:
                raise Refused(401, "unknown API key")
            if self.headers.get("Content-Encoding"):
                raise Refused(415, "send the body uncompressed")
            if FAULT == "early":
                body = self.read_body()
            try:
                value = json.loads(body)
            except ValueError:
                raise Refused(400, "the body is not JSON") from None
            if FAULT == "crash" and isinstance(value, dict):
                value["field" if self.path == "/reconciliation" else "activity"]
            self.answer(*route(value))
        except Refused as refused:
            self.answer(refused.status, {"error": str(refused)})

    def do_GET(self):
        known = self.path in ROUTES
        self.answer(405 if known else 404, {"error": "use POST"}, {"Allow": "POST"} if known else {})

    def read_body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            if len(body) < length:
                raise ConnectionError("the request was cut")
            return body
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def answer(self, status, value, headers=None):
        text = json.dumps(value).encode()
        content_type = "application/json"
        if FAULT == "html" and status >= 400:
            text, content_type = b"<html><h1>The service refused the request</h1></html>", "text/html"
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(text)))
        for name, header in (headers or {}).items():
            self.send_header(name, header)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


if __name__ == "__main__":
    server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
    print("listening", flush=True)
    server.serve_forever()
