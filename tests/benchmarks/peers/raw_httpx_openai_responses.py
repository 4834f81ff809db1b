"""raw_httpx by the OpenAI Responses API."""

import json

from common import declare, main
from raw_loop import RawLoop


class RawResponses(RawLoop):
    headers = {"authorization": "Bearer none"}

    def path(self, model):
        return "/v1/responses"

    def request(self, model, history, functions):
        tools = [{"type": "function", **each["function"]} for each in declare(functions)]
        return {"model": model, "stream": True, "store": False, "input": history, **({"tools": tools} if tools else {})}

    def texts(self, event):
        if event["type"] == "response.output_text.delta":
            yield event["delta"]

    def turn(self, model, body):
        texts, items, parts = [], {}, {}
        for event in self.events(model, body):
            if event["type"] == "response.output_text.delta":
                texts.append(event["delta"])
            elif event["type"] == "response.output_item.added" and event["item"]["type"] == "function_call":
                items[event["output_index"]], parts[event["output_index"]] = event["item"], []
            elif event["type"] == "response.function_call_arguments.delta":
                parts[event["output_index"]].append(event["delta"])
        calls, wire = [], []
        if texts:
            wire.append({"role": "assistant", "content": "".join(texts)})
        for index, item in items.items():
            arguments = "".join(parts[index])
            calls.append((item["call_id"], item["name"], json.loads(arguments or "{}")))
            call = {"type": "function_call", "call_id": item["call_id"], "name": item["name"], "arguments": arguments}
            wire.append(call)
        return "".join(texts), calls, wire

    def results(self, calls, outputs):
        return [
            {"type": "function_call_output", "call_id": call[0], "output": output}
            for call, output in zip(calls, outputs)
        ]


if __name__ == "__main__":
    main(RawResponses)
