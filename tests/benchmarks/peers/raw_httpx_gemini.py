"""raw_httpx by the Gemini API."""

from common import declare, main
from raw_loop import RawLoop


class RawGemini(RawLoop):
    headers = {"x-goog-api-key": "none"}

    def path(self, model):
        return f"/v1beta/models/{model}:streamGenerateContent?alt=sse"

    def said(self, role, text):
        return {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]}

    def request(self, model, history, functions):
        declared = [each["function"] for each in declare(functions)]
        return {"contents": history, **({"tools": [{"functionDeclarations": declared}]} if declared else {})}

    def texts(self, event):
        for part in event["candidates"][0]["content"]["parts"]:
            if part.get("text"):
                yield part["text"]

    def turn(self, model, body):
        texts, parts = [], []
        for event in self.events(model, body):
            for part in event["candidates"][0]["content"]["parts"]:
                if part.get("text"):
                    texts.append(part["text"])
                elif "functionCall" in part:
                    parts.append(part)
        calls = [(each["functionCall"]["id"], each["functionCall"]["name"], each["functionCall"]["args"]) for each in parts]
        said = [{"text": "".join(texts)}] if texts else []
        return "".join(texts), calls, [{"role": "model", "parts": said + parts}]

    def results(self, calls, outputs):
        return [
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": key, "name": name, "response": {"output": output}}}
                    for (key, name, _), output in zip(calls, outputs)
                ],
            }
        ]


if __name__ == "__main__":
    main(RawGemini)
