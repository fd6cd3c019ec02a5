"""Receives webhooks with Python's own HTTP server. Try it:

    WEBHOOK_SECRET=whsec_… PYTHONPATH=clients/python/src python3 examples/receive-webhooks/receive.py
"""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from offhook import WebhookSignatureError, webhooks

SECRET = os.environ["WEBHOOK_SECRET"]
PORT = int(os.environ.get("PORT", "9000"))

# Deliveries come at least once. A real receiver keeps their ids in its database.
seen = set()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            event = webhooks.verify(body, self.headers, SECRET)
        except WebhookSignatureError as error:
            print("refused", error, flush=True)
            self.send_response(401)
        else:
            if event["id"] not in seen:
                print("received", event["event"], event["id"], flush=True)
            seen.add(event["id"])
            self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        """The lines above are enough."""


server = ThreadingHTTPServer(("127.0.0.1", PORT), Receiver)
print("listening on", PORT, flush=True)
server.serve_forever()
