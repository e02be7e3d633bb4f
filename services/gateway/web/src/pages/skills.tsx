import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ArrowLeft, FlaskConical, Search, Sparkles } from "lucide-react";
import { useState } from "react";
import { api, data, type Schemas } from "@/api/client";
import { useSend } from "@/api/commands";
import { skillQuery, skillsQuery, toolsQuery } from "@/api/queries";
import { Json } from "@/components/json";
import { Markdown } from "@/components/markdown";
import { Empty, Loaded } from "@/components/states";
import { tell, tellProblem } from "@/components/toast";
import { Badge, Button, Card, Page, TextField } from "@/components/ui";
import { bytes } from "@/lib/format";
import { useLater } from "@/lib/use-later";

type Skill = Schemas["SkillFound"] | Schemas["SkillRead"];

/** Skills: what Suma can do, each to read, to check, and to try on an example folder. */
export default function Skills() {
  const { skill } = useParams({ strict: false }) as { skill?: string };
  const [root, setRoot] = useState("");
  const folder = useLater(root.trim().startsWith("/") ? root.trim() : "");
  return skill ? <One name={skill} root={folder} /> : <All root={root} folder={folder} setRoot={setRoot} />;
}

function All({ root, folder, setRoot }: { root: string; folder: string; setRoot: (root: string) => void }) {
  const [words, setWords] = useState("");
  const query = useQuery(skillsQuery(folder || undefined));
  const shown = (skills: readonly Skill[]) => skills.filter((skill) => matches(skill, words));
  return (
    <Page title="Skills" about="What Suma can do. The steps of a plan use their tools.">
      <div className="flex flex-wrap gap-3 pb-4">
        <TextField quiet label="Search skills" type="search" placeholder="Search skills" value={words} onChange={(event) => { setWords(event.target.value); }} className="min-w-0 flex-1 basis-52" />
        <TextField quiet label="Include the skills of a folder" placeholder="A folder's own skills: /home/you/project" value={root} onChange={(event) => { setRoot(event.target.value); }} className="min-w-0 flex-1 basis-52" />
      </div>
      <Loaded query={query} empty={({ skills }) => shown(skills).length === 0 && <Empty icon={Search} title="No skill matches">Try another word.</Empty>}>
        {({ skills }) => (
          <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
            {shown(skills).map((skill) => (
              <li key={`${skill.folder} ${skill.name}`}>
                <Link to="/skills/{-$skill}" params={{ skill: skill.name }} className="flex h-full flex-col gap-2 rounded-xl border border-line bg-surface p-4 hover:border-line-strong">
                  <span className="flex items-center gap-2">
                    <Sparkles aria-hidden className="size-4 shrink-0 text-accent-ink" />
                    <span className="min-w-0 flex-1 truncate font-semibold">{skill.name}</span>
                    <State skill={skill} />
                  </span>
                  <span className="line-clamp-3 text-sm text-muted">{skill.description}</span>
                  <span className="mt-auto flex flex-wrap gap-1 pt-1">
                    {skill.source && skill.source !== "bundled" && <Badge tone="info">{skill.source}</Badge>}
                    {skill.problems.length > 0 && <Badge tone="danger">{skill.problems.length} problems</Badge>}
                    {skill.tags.slice(0, 3).map((tag) => <Badge key={tag}>{tag}</Badge>)}
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <Tools words={words.toLowerCase()} />
    </Page>
  );
}

/** Every tool that plans may use: of skills, of packages, and of other servers. */
function Tools({ words }: { words: string }) {
  const query = useQuery(toolsQuery());
  return (
    <section aria-labelledby="tools" className="flex flex-col gap-2 pt-8">
      <h2 id="tools" className="text-lg font-semibold">Tools</h2>
      <Loaded query={query}>
        {({ tools }) => (
          <ul className="overflow-hidden rounded-xl border border-line bg-surface">
            {tools.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(words)).map((tool) => (
              <li key={tool.name} className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2 last:border-b-0">
                <code className="font-mono text-sm break-all">{tool.name}</code>
                {tool.source !== "skill" && <Badge tone="info">{tool.source}</Badge>}
                {tool.risks.map((risk) => <Badge key={risk} tone={risk === "reads" ? "neutral" : "warn"}>{risk}</Badge>)}
                <span className="text-sm text-muted">{tool.effect_class.replaceAll("_", " ")}</span>
                <span className="basis-full text-sm text-muted [overflow-wrap:anywhere]">{tool.description}</span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
}

function matches(skill: Skill, words: string): boolean {
  const text = `${skill.name} ${skill.description} ${skill.tags.join(" ")}`.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function State({ skill }: { skill: Skill }) {
  return skill.state === "on" ? <Badge tone="ok">on</Badge> : <Badge tone="warn">off</Badge>;
}

function One({ name, root }: { name: string; root: string }) {
  const query = useQuery(skillQuery(name, root || undefined));
  return (
    <Page title={name} actions={<Back />}>
      <Loaded query={query}>{(skill) => <Read skill={skill} root={root} />}</Loaded>
    </Page>
  );
}

function Back() {
  return (
    <Link to="/skills" className="inline-flex items-center gap-1.5 rounded-lg font-medium text-muted hover:text-ink">
      <ArrowLeft aria-hidden className="size-4" /> All skills
    </Link>
  );
}

function Read({ skill, root }: { skill: Schemas["SkillRead"]; root: string }) {
  return (
    <div className="flex max-w-3xl flex-col gap-4">
      <p>{skill.description}</p>
      <div className="flex flex-wrap items-center gap-2 text-sm text-muted">
        <State skill={skill} />
        {skill.version && <span>version {skill.version}</span>}
        {skill.kind && <span>{skill.kind}</span>}
        {skill.source && <span>{skill.source}</span>}
        {skill.digest && <code className="font-mono text-xs" title={skill.digest}>{skill.digest.slice(0, 12)}</code>}
      </div>
      {skill.reason && <p className="rounded-lg bg-warn-tint px-3 py-2 text-sm text-warn">{skill.reason}</p>}
      <Check skill={skill} />
      {skill.source === "workspace" && skill.digest && <Decide skill={skill} digest={skill.digest} root={root} />}
      {skill.state === "on" && <Try skill={skill} />}
      {skill.instructions && (
        <Card className="p-4">
          <h2 className="pb-2 font-semibold">Instructions</h2>
          <Markdown text={skill.instructions} />
        </Card>
      )}
      {(skill.declared ?? []).map((tool) => (
        <Card key={tool.name} className="flex flex-col gap-2 p-4">
          <h2 className="flex flex-wrap items-center gap-2 font-semibold">
            <code className="font-mono text-sm break-all">{tool.name}</code>
            <Badge tone={tool.mutates ? "warn" : "neutral"}>{tool.mutates ? "changes files" : "reads only"}</Badge>
            {tool.mutates && <Badge>{tool.effect}</Badge>}
          </h2>
          <p className="text-sm">{tool.description}</p>
          <details>
            <summary className="w-fit rounded text-sm font-medium text-accent-ink">Parameters</summary>
            <Json value={tool.params} label={`Parameters of ${tool.name}`} />
          </details>
        </Card>
      ))}
      {Object.entries(skill.programs ?? {}).map(([path, text]) => (
        <Card key={path} className="p-4">
          <details open={skill.state === "off"}>
            <summary className="w-fit rounded font-semibold"><code className="font-mono text-sm break-all">{path}</code> runs in the sandbox</summary>
            <pre className="overflow-x-auto pt-2 font-mono text-xs">{text}</pre>
          </details>
        </Card>
      ))}
      {Object.keys(skill.files ?? {}).length > 0 && (
        <Card className="p-4">
          <h2 className="pb-2 font-semibold">Files</h2>
          <ul className="text-sm">
            {Object.entries(skill.files ?? {}).map(([path, size]) => (
              <li key={path} className="flex justify-between gap-3 border-t border-line py-1.5 first:border-0">
                <code className="font-mono text-xs break-all">{path}</code>
                <span className="text-muted tabular-nums">{bytes(size)}</span>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </div>
  );
}

/** The result of the checks that the executor makes of each skill. */
function Check({ skill }: { skill: Skill }) {
  if (skill.problems.length === 0) return <p className="text-sm text-ok">Checked: the format is valid, and each tool can run.</p>;
  return (
    <div className="rounded-lg bg-danger-tint px-3 py-2 text-sm text-danger">
      <p className="font-medium">Problems</p>
      <ul className="list-disc pl-5">{skill.problems.map((problem) => <li key={problem}>{problem}</li>)}</ul>
    </div>
  );
}

function Decide({ skill, digest, root }: { skill: Skill; digest: string; root: string }) {
  const client = useQueryClient();
  const params = { path: { name: skill.name } };
  const decide = useMutation({
    mutationFn: async (on: boolean) => {
      if (on) await data(api.POST("/v1/skills/{name}/approve", { params, body: { root, digest } }));
      else await data(api.POST("/v1/skills/{name}/revoke", { params, body: { root } }));
      return on;
    },
    onSuccess: (on) => { tell(on ? "The skill is on, in exactly this version." : "The skill is off."); },
    onError: tellProblem,
    onSettled: () => client.invalidateQueries(),
  });
  const off = skill.state === "off";
  return (
    <div>
      <Button look={off ? "primary" : "secondary"} busy={decide.isPending} onClick={() => { decide.mutate(off); }}>
        {off ? "Turn on this version" : "Turn off"}
      </Button>
    </div>
  );
}

function Try({ skill }: { skill: Skill }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const send = useSend();
  const make = useMutation({ mutationFn: () => data(api.POST("/v1/examples")), onError: tellProblem });
  const start = async () => {
    const { root } = await make.mutateAsync();
    const { session_id } = await send.mutateAsync({ text, root, skill: skill.name });
    await navigate({ to: "/chat/{-$session}", params: { session: session_id } });
  };
  return (
    <Card className="p-4">
      <h2 className="flex items-center gap-2 font-semibold"><FlaskConical aria-hidden className="size-4" /> Try it on an example folder</h2>
      <form className="flex flex-wrap items-end gap-2 pt-2" onSubmit={(event) => { event.preventDefault(); void start().catch(() => undefined); }}>
        <TextField quiet label="What should it do?" placeholder="What should it do?" required value={text} onChange={(event) => { setText(event.target.value); }} className="min-w-0 flex-1 basis-60" />
        <Button type="submit" busy={make.isPending || send.isPending}>Try</Button>
      </form>
    </Card>
  );
}
