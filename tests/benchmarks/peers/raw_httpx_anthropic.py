"""raw_httpx by the Anthropic Messages API."""

import json

from common import declare, main
from raw_loop import RawLoop


class RawAnthropic(RawLoop):
    headers = {"x-api-key": "none", "anthropic-version": "2023-06-01"}

    def path(self, model):
        return "/v1/messages"

    def request(self, model, history, functions):
        tools = {"tools": declare(functions, "anthropic")} if functions else {}
        return {"model": model, "max_tokens": 8192, "stream": True, "messages": history, **tools}

    def texts(self, event):
        if event["type"] == "content_block_delta" and event["delta"]["type"] == "text_delta":
            yield event["delta"]["text"]

    def turn(self, model, body):
        texts, blocks = [], {}
        for event in self.events(model, body):
            if event["type"] == "content_block_start" and event["content_block"]["type"] == "tool_use":
                blocks[event["index"]] = (event["content_block"], [])
            elif event["type"] == "content_block_delta":
                delta = event["delta"]
                if delta["type"] == "text_delta":
                    texts.append(delta["text"])
                elif delta["type"] == "input_json_delta":
                    blocks[event["index"]][1].append(delta["partial_json"])
        calls = [(block["id"], block["name"], json.loads("".join(parts) or "{}")) for block, parts in blocks.values()]
        content = [{"type": "text", "text": "".join(texts)}] if texts else []
        content += [{"type": "tool_use", "id": key, "name": name, "input": values} for key, name, values in calls]
        return "".join(texts), calls, [{"role": "assistant", "content": content}]

    def results(self, calls, outputs):
        content = [
            {"type": "tool_result", "tool_use_id": call[0], "content": output} for call, output in zip(calls, outputs)
        ]
        return [{"role": "user", "content": content}]


if __name__ == "__main__":
    main(RawAnthropic)
