// Write src/api/generated from the contracts in proto/: the API's types, and the data of the events that a viewer sees.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compile } from "json-schema-to-typescript";
import openapi, { astToString } from "openapi-typescript";

const web = join(import.meta.dirname, "..");
const proto = join(web, "../../../proto");
const out = join(web, "src/api/generated");
const VIEWED = "conversation.outbound";

/** `turn.started` for `suma.turn.started.v1`: the name that the stream uses. */
const short = (type) => type.replace(/^suma\./, "").replace(/\.v\d+$/, "");

const schemas = readdirSync(join(proto, "events"))
  .map((file) => JSON.parse(readFileSync(join(proto, "events", file), "utf8")))
  .filter((schema) => schema["x-topic"] === VIEWED);
const events = {
  title: "EventData",
  type: "object",
  additionalProperties: false,
  properties: Object.fromEntries(schemas.map((schema) => [short(schema.title), schema.properties.data])),
  required: schemas.map((schema) => short(schema.title)),
  $defs: Object.assign({}, ...schemas.map((schema) => schema.$defs)),
};

mkdirSync(out, { recursive: true });
const document = new URL(`file://${join(proto, "openapi.yaml")}`);
writeFileSync(join(out, "openapi.d.ts"), astToString(await openapi(document)));
const types = await compile(events, "EventData", { additionalProperties: false, format: false, bannerComment: "" });
writeFileSync(join(out, "events.d.ts"), types);
