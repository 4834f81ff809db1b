"""httpx and the standard library's json for other APIs than Chat Completions: the tool loop that they share."""

import json

from common import PROMPT, Driver, Unsupported


class RawLoop(Driver):
    """A subclass tells the forms of its API: `path`, `request`, `texts`, `turn`, `results`."""

    headers = {}

    def load(self):
        global httpx
        import httpx

    def open(self, base_url):
        self.client = httpx.Client(base_url=base_url, headers=self.headers, timeout=60)

    def events(self, model, body):
        with self.client.stream("POST", self.path(model), json=body) as response:
            if response.status_code != 200:
                raise RuntimeError(response.read().decode())
            for line in response.iter_lines():
                if line.startswith("data: "):
                    yield json.loads(line[6:])

    def stream(self, model, on_delta):
        for event in self.events(model, self.request(model, [self.user(PROMPT)], ())):
            for text in self.texts(event):
                on_delta(text)

    def run_tools(self, model, functions):
        from concurrent.futures import ThreadPoolExecutor
        from inspect import iscoroutinefunction

        if any(map(iscoroutinefunction, functions)):
            raise Unsupported
        by_name = {f.__name__: f for f in functions}
        history = [self.user(PROMPT)]
        body = self.request(model, history, functions)
        while True:
            text, calls, wire = self.turn(model, body)
            history += wire
            if not calls:
                return text
            if len(calls) == 1:
                outputs = [str(by_name[calls[0][1]](**calls[0][2]))]
            else:
                with ThreadPoolExecutor(len(calls)) as pool:
                    outputs = [str(each) for each in pool.map(lambda call: by_name[call[1]](**call[2]), calls)]
            history += self.results(calls, outputs)

    def history(self, pairs):
        return [self.said(role, text) for pair in pairs for role, text in zip(("user", "assistant"), pair)]

    def go_on(self, model, history):
        return self.turn(model, self.request(model, [*history, self.user(PROMPT)], ()))[0]

    def user(self, text):
        return self.said("user", text)

    def said(self, role, text):
        return {"role": role, "content": text}
