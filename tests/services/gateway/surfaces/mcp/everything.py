"""A server with every fixture that the conformance suites name, to be mounted behind the gateway's own doors."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from mcp.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    BlobResourceContents,
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    EmptyResult,
    GetPromptRequestParams,
    GetPromptResult,
    ImageContent,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListRootsRequest,
    ListToolsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    Tool,
    UnsubscribeRequestParams,
)

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
PAUSE = 0.01
ROOT = "test://"
Json = dict[str, Any]
Answer = CallToolResult | InputRequiredResult
Run = Callable[[Any, CallToolRequestParams], Awaitable[Answer]]


def text(said: str, *, error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=said)], is_error=error)


def fields(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


def form(message: str, schema: Json) -> ElicitRequest:
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def sampling(prompt: str, most: int) -> CreateMessageRequest:
    said = SamplingMessage(role="user", content=TextContent(text=prompt))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[said], max_tokens=most))


def embedded(uri: str, kind: str, said: str) -> EmbeddedResource:
    return EmbeddedResource(resource=TextResourceContents(uri=uri, mime_type=kind, text=said))


NAME = form("What is your name?", fields(name={"type": "string"}))
COLOUR = form("Step 2: What is your favorite color?", fields(color={"type": "string"}))
CONFIRM = form("Please confirm", fields(ok={"type": "boolean"}))
CONTEXT = form("What context should the prompt use?", fields(context={"type": "string"}))
CAPITAL, GREETING = sampling("What is the capital of France?", 100), sampling("Generate a greeting", 50)
OPTIONS, TITLED = ["option1", "option2", "option3"], [f"value{n}" for n in (1, 2, 3)]
DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
ENUMS = {
    "untitledSingle": {"type": "string", "enum": OPTIONS},
    "titledSingle": {"type": "string", "oneOf": [{"const": each, "title": each.title()} for each in TITLED]},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
    "titledMulti": {"type": "array", "items": {"anyOf": [{"const": each, "title": each.title()} for each in TITLED]}},
}
CONDITIONAL: Json = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}}}},
    "properties": {"address": {"$ref": "#/$defs/address"}, "contactMethod": {"enum": ["phone", "email"]}},
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


async def logs(context: Any, params: CallToolRequestParams) -> Answer:
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.session.send_log_message("info", said, related_request_id=context.request_id)
        await anyio.sleep(PAUSE)
    return text("logged")


async def progresses(context: Any, params: CallToolRequestParams) -> Answer:
    for done in (0, 50, 100):
        await context.session.report_progress(float(done), 100.0)
        await anyio.sleep(PAUSE)
    return text("done")


async def samples(context: Any, params: CallToolRequestParams) -> Answer:
    asked = SamplingMessage(role="user", content=TextContent(text=(params.arguments or {})["prompt"]))
    said = await context.session.create_message([asked], max_tokens=100, related_request_id=context.request_id)
    return text(f"LLM response: {said.content.text}")


def elicits(schema: Json, message: str = "Please answer") -> Run:
    async def run(context: Any, params: CallToolRequestParams) -> Answer:
        asked = (params.arguments or {}).get("message", message)
        said = await context.session.elicit_form(asked, schema, context.request_id)
        return text(f"Elicitation completed: action={said.action}, content={json.dumps(said.content)}")

    return run


def requires(state: str | None = None, **requests: Any) -> Run:
    """Return a tool that asks for these inputs until all are there, and then names them."""

    async def run(context: Any, params: CallToolRequestParams) -> Answer:
        given = params.input_responses or {}
        if missing := {name: request for name, request in requests.items() if name not in given}:
            return InputRequiredResult(input_requests=missing, request_state=state)
        known = " state-ok" if state is not None and params.request_state == state else ""
        return text(f"{' '.join(each.model_dump_json() for each in given.values())}{known}")

    return run


async def rounds(context: Any, params: CallToolRequestParams) -> Answer:
    match params.request_state:
        case None:
            return InputRequiredResult(input_requests={"step1": NAME}, request_state="first")
        case "first":
            return InputRequiredResult(input_requests={"step2": COLOUR}, request_state="second")
        case _:
            return text("all answered")


async def supported(context: Any, params: CallToolRequestParams) -> Answer:
    able = context.session.client_capabilities
    found = {"name": NAME if able.elicitation else None, "greeting": GREETING if able.sampling else None}
    return InputRequiredResult(input_requests={name: each for name, each in found.items() if each}, request_state="s")


async def demanding(context: Any, params: CallToolRequestParams) -> Answer:
    if context.session.client_capabilities.sampling is None:
        needed: Json = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(code=MISSING_REQUIRED_CLIENT_CAPABILITY, message="sampling is required", data=needed)
    return text("sampling is there")


def gives(*content: Any, error: bool = False) -> Run:
    async def run(context: Any, params: CallToolRequestParams) -> Answer:
        return CallToolResult(content=list(content), is_error=error)

    return run


IMAGE, AUDIO = ImageContent(data=PNG, mime_type="image/png"), AudioContent(data=WAV, mime_type="audio/wav")
MIXED = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
EMBEDDED = embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
NO_ARGS: Json = {"type": "object", "properties": {}}
HEADER: Json = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
TOOLS: Mapping[str, tuple[Json, Run]] = {
    "test_simple_text": (NO_ARGS, gives(TextContent(text="This is a simple text response for testing."))),
    "test_image_content": (NO_ARGS, gives(IMAGE)),
    "test_audio_content": (NO_ARGS, gives(AUDIO)),
    "test_embedded_resource": (NO_ARGS, gives(EMBEDDED)),
    "test_multiple_content_types": (
        NO_ARGS,
        gives(TextContent(text="Multiple content types test:"), IMAGE, MIXED),
    ),
    "test_tool_with_logging": (NO_ARGS, logs),
    "test_logging_tool": (NO_ARGS, logs),
    "test_tool_with_progress": (NO_ARGS, progresses),
    "test_error_handling": (
        NO_ARGS,
        gives(TextContent(text="This tool intentionally returns an error for testing"), error=True),
    ),
    "test_sampling": (fields(prompt={"type": "string"}), samples),
    "test_elicitation": (
        fields(message={"type": "string"}),
        elicits(fields(username={"type": "string"}, email={"type": "string"})),
    ),
    "test_elicitation_sep1034_defaults": (NO_ARGS, elicits({"type": "object", "properties": DEFAULTS})),
    "test_elicitation_sep1330_enums": (NO_ARGS, elicits({"type": "object", "properties": ENUMS})),
    "test_streaming_elicitation": (NO_ARGS, requires(user_name=NAME)),
    "json_schema_2020_12_tool": (CONDITIONAL, gives()),
    "test_header": (HEADER, gives(TextContent(text="seen"))),
    "test_missing_capability": (NO_ARGS, demanding),
    "test_input_required_result_elicitation": (NO_ARGS, requires(user_name=NAME)),
    "test_input_required_result_sampling": (NO_ARGS, requires(capital_question=CAPITAL)),
    "test_input_required_result_list_roots": (NO_ARGS, requires(client_roots=ListRootsRequest())),
    "test_input_required_result_request_state": (NO_ARGS, requires("kept", confirm=CONFIRM)),
    "test_input_required_result_tampered_state": (NO_ARGS, requires("kept", confirm=CONFIRM)),
    "test_input_required_result_multiple_inputs": (
        NO_ARGS,
        requires("kept", user_name=NAME, greeting=GREETING, client_roots=ListRootsRequest()),
    ),
    "test_input_required_result_multi_round": (NO_ARGS, rounds),
    "test_input_required_result_capabilities": (NO_ARGS, supported),
}
ARGUMENTS = {"test_prompt_with_arguments": ("arg1", "arg2"), "test_prompt_with_embedded_resource": ("resourceUri",)}
PROMPTS = (
    *("test_simple_prompt", "test_prompt_with_arguments", "test_prompt_with_embedded_resource"),
    *("test_prompt_with_image", "test_input_required_result_prompt"),
)


async def call_tool(context: Any, params: CallToolRequestParams) -> Answer:
    if params.name not in TOOLS:
        raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {params.name}")
    return await TOOLS[params.name][1](context, params)


async def list_tools(context: Any, params: Any) -> ListToolsResult:
    return ListToolsResult(
        tools=[Tool(name=name, description=name, input_schema=schema) for name, (schema, _) in TOOLS.items()]
    )


async def list_prompts(context: Any, params: Any) -> ListPromptsResult:
    def prompt(name: str) -> Prompt:
        return Prompt(
            name=name,
            description=name,
            arguments=[PromptArgument(name=each, required=True) for each in ARGUMENTS.get(name, ())],
        )

    return ListPromptsResult(prompts=[prompt(name) for name in PROMPTS])


async def get_prompt(context: Any, params: GetPromptRequestParams) -> GetPromptResult | InputRequiredResult:
    given: Mapping[str, str] = params.arguments or {}
    content: list[Any] = []
    match params.name:
        case "test_simple_prompt":
            content = [TextContent(text="This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            said = f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"
            content = [TextContent(text=said)]
        case "test_prompt_with_embedded_resource":
            one = embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
            content = [one, TextContent(text="Please process the embedded resource above.")]
        case "test_prompt_with_image":
            content = [IMAGE, TextContent(text="Please analyze the image above.")]
        case _ if not params.input_responses:
            return InputRequiredResult(input_requests={"user_context": CONTEXT})
        case _:
            content = [TextContent(text=str(params.input_responses))]
    return GetPromptResult(messages=[PromptMessage(role="user", content=each) for each in content])


async def list_resources(context: Any, params: Any) -> ListResourcesResult:
    names = ("static-text", "static-binary", "watched-resource")
    return ListResourcesResult(resources=[Resource(name=name, uri=f"{ROOT}{name}") for name in names])


async def list_templates(context: Any, params: Any) -> ListResourceTemplatesResult:
    template = ResourceTemplate(name="data", uri_template=f"{ROOT}template/{{id}}/data", mime_type="application/json")
    return ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(context: Any, params: ReadResourceRequestParams) -> ReadResourceResult:
    uri, found = params.uri, None
    match params.uri.removeprefix(ROOT).split("/"):
        case ["static-text" | "watched-resource"]:
            said = "This is the content of the static text resource."
            found = TextResourceContents(uri=uri, mime_type="text/plain", text=said)
        case ["static-binary"]:
            return ReadResourceResult(contents=[BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)])
        case ["template", id, "data"]:
            said = json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})
            found = TextResourceContents(uri=uri, mime_type="application/json", text=said)
    if found is None:
        raise MCPError(code=INVALID_PARAMS, message="Resource not found", data={"uri": uri})
    return ReadResourceResult(contents=[found])


async def complete(context: Any, params: CompleteRequestParams) -> CompleteResult:
    return CompleteResult(completion=Completion(values=[f"{params.argument.value}is"]))


async def accept(
    context: Any, params: SubscribeRequestParams | UnsubscribeRequestParams | SetLevelRequestParams
) -> EmptyResult:
    return EmptyResult()


def everything() -> Server[Any]:
    server: Server[Any] = Server(
        "everything",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=accept,
        on_unsubscribe_resource=accept,
        on_completion=complete,
    )
    server.add_request_handler("logging/setLevel", SetLevelRequestParams, accept)
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="everything"))
    return server
