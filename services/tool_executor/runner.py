"""Work under a call's lease: a primitive on the stage, or the stage's commit, drop or restore, or a rollback."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from libs import ids
from libs.cache import Delta, Stream
from libs.changes import Changeset, Row
from libs.errors import Conflict, NotFound, Rejected
from libs.events import Diff, Event, ToolRequested
from libs.leases import Lease
from libs.multimodal.ports import StepType
from libs.objects import UPLOADS, area
from libs.runtime import Platform
from libs.skills import RUN, USE, Categories, Primitive, ToolDefinition, use
from libs.texts import quoted
from libs.workspace.commit import Committed, commit, committed, outcome
from libs.workspace.errors import FULL, CommitConflict, Failed, HistoryGone, NoSpace, NoSuchCommit, Unfinished
from libs.workspace.history import Pruned
from libs.workspace.lock import lock, seize
from libs.workspace.reserved import HIDDEN
from libs.workspace.rollback import RolledBack, redo, rollback
from libs.workspace.stage import Stage
from services.tool_executor import calls, command_runs, shown_diff
from services.tool_executor.calls import LeaseLost
from services.tool_executor.chain import Chain, LinkRefused, as_planned, expanded
from services.tool_executor.command_runs import CommandRuns
from services.tool_executor.content import STALE, Contents, Question, as_data
from services.tool_executor.fetching import Fetcher
from services.tool_executor.history import History
from services.tool_executor.live_output import shown_live
from services.tool_executor.multimodal import drafting, saving
from services.tool_executor.multimodal.drafting import Draft
from services.tool_executor.multimodal.studio import Studio
from services.tool_executor.multimodal.tasks import Produced, Task
from services.tool_executor.remembering import Remembering
from services.tool_executor.rows import JournalEntry
from services.tool_executor.skills import programs
from services.tool_executor.skills.local import LocalSkills
from services.tool_executor.tools import containing, importing
from services.tool_executor.tools.limits import Limits
from services.tool_executor.tools.listing import left_alone
from services.tool_executor.tools.primitives import PRIMITIVES
from services.tool_executor.tools.tool_context import ToolContext, ToolOutput, human, many
from services.tool_executor.tools.workspace_tools import COMMIT, DROP, REDO, RESTORE, ROLLBACK, WORKSPACE_TOOLS
from services.tool_executor.workspaces import GROUP, Workspace, Workspaces, queries, quickly

LISTS = frozenset({"get_children"})
"""Primitives that look at the tree alone, unless they choose by what files contain."""
T = TypeVar("T")


class TimedOut(Rejected):
    """The call took longer than it may."""

    code = "TIMED_OUT"


class StaleDiff(Rejected):
    """The stage is not the one whose diff was approved."""

    code = "STALE_DIFF"


class FilesChanged(Rejected):
    """Files that this would touch were changed meanwhile; nothing was overwritten."""

    code = "CONFLICT"

    def __init__(self, paths: tuple[str, ...], message: str) -> None:
        super().__init__(message)
        self.paths = paths


class CallCancelled(Rejected):
    """The call was cancelled."""

    code = "CANCELLED"


class CancelToken:
    """Tell a thread that its call was cancelled or ran out of time: a thread can only stop itself."""

    def __init__(self) -> None:
        self._over = threading.Event()

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def check(self) -> None:
        if self._over.is_set():
            raise CallCancelled


@dataclass(frozen=True)
class CallOutput:
    """The output of a call, on its way to becoming a changeset."""

    data: Any
    summary: str
    workspace: Workspace | None = None
    """The workspace as it is in memory now; kept when the changeset has committed."""
    reads: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    operations: tuple[Any, ...] = ()
    """Operations to append to the stage's log."""
    base: int = 0
    """How many of the stored operations stay."""
    length: int | None = None
    """The stage's new length, where the stage changed."""
    ended: bool = False
    """Whether the stage has ended: it was committed or dropped."""
    contents: bool = False
    """Whether contents were stored beside the log."""
    snapshot: tuple[str, int] | None = None
    diff: Diff | None = None
    commit_id: str | None = None
    events: tuple[Event, ...] = ()
    """Events that the call's outcome commits with."""
    rows: tuple[Row, ...] = ()
    """Rows that it commits with."""
    journal: JournalEntry | None = None


class CallRunner:
    def __init__(
        self,
        platform: Platform,
        workspaces: Workspaces,
        *,
        categories: Callable[[], Categories],
        contents: Contents,
        local: LocalSkills,
        history: History,
        limits: Limits,
        chain: Chain,
        fetcher: Fetcher,
        commands: CommandRuns,
        studio: Studio,
    ) -> None:
        self._platform, self._workspaces = platform, workspaces
        self._chain, self._fetcher, self._remembering = chain, fetcher, Remembering(platform)
        self._categories, self._contents, self._local = categories, contents, local
        self._history, self._limits, self._commands, self._studio = history, limits, commands, studio

    async def do(self, lease: Lease, request: ToolRequested, session: str) -> CallOutput:
        """Do the call's work, alone with its session's workspace if it works there.

        Raises:
            Rejected: it cannot be done; nothing is staged.
            Unavailable: it can be tried again.
        """
        # These need no workspace, or hold it only for a part of their work.
        apart = {Primitive.WEB: self._fetch, Primitive.MEMORY: self._remember, Primitive.MULTIMODAL: self._make}
        primitive = None if request.tool in WORKSPACE_TOOLS else self._tool(request).primitive
        if primitive in apart:
            async with _deadline(request.deadline):
                return await apart[primitive](lease, request, session)
        async with self._workspaces.at_work(lease.tenant, session):
            output = await self._run(lease, request, session)
        return replace(output, warnings=(*output.warnings, *self._workspaces.notes(lease.tenant, request.root)))

    async def _run(self, lease: Lease, request: ToolRequested, session: str) -> CallOutput:
        match request.tool:
            # The workspace tools have no deadline: a change of the disk, once begun, must reach its end.
            case str() if request.tool == COMMIT:
                return await self._commit(lease, request, session)
            case str() if request.tool == DROP:
                summary, empty = "Nothing was changed; what was staged is gone.", Diff(version=0, count=0)
                return CallOutput({}, summary, length=0, ended=True, diff=empty)
            case str() if request.tool == RESTORE:
                return await self._restore(lease, request, session)
            case str() if request.tool in (ROLLBACK, REDO):
                return await self._roll_back(lease, request)
            case str() if request.tool == USE:
                async with _deadline(request.deadline):
                    return await self._use(lease, request)
            case _:
                async with _deadline(request.deadline):
                    return await self._primitive(lease, request, session)

    def _tool(self, request: ToolRequested) -> ToolDefinition:
        # Checked again: another process, with other skills, may hold this lease. Its input has handles, not the args.
        return as_planned(self._platform.skills.tool(request.tool), request)

    async def _primitive(self, lease: Lease, request: ToolRequested, session: str) -> CallOutput:
        tool = self._tool(request)
        args = {**tool.defaults(), **await expanded(self._platform.objects, lease.tenant, request.args)}
        # A hint that no grant signs: a tool that changes the stage reads it from Postgres all the same.
        unstaged = request.unstaged and not tool.mutates
        workspace = await self._workspaces.take(
            lease.tenant, session, request.root, turn=request.turn_id, unstaged=unstaged
        )
        if tool.primitive is Primitive.RETRIEVAL:
            return await self._search(lease, session, workspace, args)
        await self._workspaces.fill(lease.tenant, workspace)
        if tool.runs_program:
            return await self._command(
                lease, request, session, workspace, await self._program(lease, request, session, args)
            )
        before, cancel = workspace.stage.version, CancelToken()
        async with self._attached(lease.tenant, workspace.stage, request, args) as attachments:
            context = ToolContext(
                workspace.stage,
                self._categories(),
                tool.mutates,
                reason=tool.name,
                limits=self._limits,
                check=cancel.check,
                texts=self._contents.texts(lease.tenant, workspace.stage, cancel.check),
                attachments=attachments,
                listed=frozenset(request.listed),
                history_days=self._history.days,
            )
            with cancel:
                small = workspace.scan if tool.method in LISTS and args.keys().isdisjoint(containing.ASKED) else None
                done = await quickly(small, PRIMITIVES[tool.method], context, args)
        if done.picture is not None:
            blob = await self._platform.objects.put(lease.tenant, done.picture)
            done.data["picture"] = {"media_type": "image/jpeg", "sha256": blob.sha256, "size": blob.size}
        if done.applied is None:
            # Nothing was staged, so this copy equals Postgres and need not wait for the commit.
            self._workspaces.keep(lease.tenant, session, workspace)
            warnings = (*done.warnings, *workspace.stage.tree.base.problems)
            return CallOutput(done.data, done.summary, reads=done.reads, warnings=warnings)
        return await self._staged(lease, request, workspace, before=before, done=done)

    async def _program(
        self, lease: Lease, request: ToolRequested, session: str, args: dict[str, Any]
    ) -> programs.Program:
        """Return what a call starts: a command, or a skill's program in the version that was planned or approved."""
        skill = await self._local.to_use(lease.tenant, request.root, args["skill"]) if request.tool == RUN else None
        # Only now: the version of a skill must not change between this check and its use.
        skills = self._platform.skills
        tool = as_planned(skills.tool(request.tool), request)
        if skill is not None:
            return programs.of_words(skill, args)
        if tool.primitive is Primitive.COMMAND:
            return programs.Program(args["command"], self._commands.command(args))
        return programs.of_tool(tool, skills.skills[tool.skill], args, session)

    async def _command(
        self, lease: Lease, request: ToolRequested, session: str, workspace: Workspace, program: programs.Program
    ) -> CallOutput:
        """Run a program over the staged files, and stage what it changed."""
        stage, cancel, whose = workspace.stage, CancelToken(), (lease.tenant, session)
        context = ToolContext(stage, self._categories(), mutates=True, reason=request.tool, limits=self._limits)
        before = stage.version
        with cancel:
            stream, empty = Stream(lease.tenant, request.turn_id), Delta(lease.id, lease.attempts, "", request.step_id)
            async with shown_live(self._platform.deltas, stream, empty) as show:
                run = await self._commands.run(
                    whose,
                    stage,
                    program.command,
                    skill=program.skill,
                    show=show,
                    check=cancel.check,
                    keep=context.cached,
                )
            fields = await asyncio.to_thread(program.fields, run)
            applied = await asyncio.to_thread(context.put, run.changes.operations)
        paths = applied.paths if applied is not None else ()
        done = ToolOutput(
            {**fields, **command_runs.as_data(run, paths)},
            command_runs.summary(program.name, run.ended, len(paths)),
            applied=applied,
        )
        if applied is None:
            self._workspaces.keep(lease.tenant, session, workspace)
            return CallOutput(done.data, done.summary)
        return await self._staged(lease, request, workspace, before=before, done=done)

    @asynccontextmanager
    async def _attached(
        self, tenant: str, stage: Stage, request: ToolRequested, args: Mapping[str, Any]
    ) -> AsyncIterator[dict[str, BinaryIO]]:
        """Return drafts of the attached files that a call takes; the grant covers which files there are."""
        with ExitStack() as stack:
            drafts: dict[str, BinaryIO] = {}
            for file in importing.chosen(request.attachments, args, self._limits):
                drafts[file.filename] = draft = stack.enter_context(stage.blob_cache.drafting())
                async for chunk in self._platform.objects.open(area(tenant, UPLOADS), file.sha256):
                    await asyncio.to_thread(draft.write, chunk)
            yield drafts

    async def _use(self, lease: Lease, request: ToolRequested) -> CallOutput:
        """Read a skill: its text is data, and names the version that it is from."""
        args = await expanded(self._platform.objects, lease.tenant, request.args)
        skill = await self._local.to_use(lease.tenant, request.root, args["skill"])
        page = use(skill, args.get("reference"), args.get("offset", 0))
        return CallOutput(page, f"Read {args.get('reference') or 'the instructions'} of the skill {skill.name}.")

    async def _fetch(self, lease: Lease, request: ToolRequested, session: str) -> CallOutput:
        """Read a page: its text is data, and names where it is from."""
        args, ask = (
            await expanded(self._platform.objects, lease.tenant, request.args),
            partial(self._ask, lease, request),
        )
        cancel = CancelToken()
        with cancel:
            page, cached = await self._fetcher.page(lease.tenant, args["url"], ask=ask, check=cancel.check)
        source = f"{quoted(page.title)} at {page.url}" if page.title else page.url
        cut = () if page.whole else ("The page is longer than what is read of it.",)
        summary = f"Read {source} (HTTP status {page.status})."
        return CallOutput(page.part(args.get("offset", 0), cached=cached), summary, warnings=cut)

    async def _remember(self, lease: Lease, request: ToolRequested, session: str) -> CallOutput:
        """Change what is remembered about the person."""
        args = await expanded(self._platform.objects, lease.tenant, request.args)
        method = self._tool(request).method
        data, summary, events = await self._remembering.do(lease.tenant, session, request, method, args)
        return CallOutput(data, summary, events=events)

    async def _make(self, lease: Lease, request: ToolRequested, session: str) -> CallOutput:
        """Make an asset, and stage it as a file too if the call names one. The workspace is free while it is made."""
        tool = self._tool(request)
        args = {**tool.defaults(), **await expanded(self._platform.objects, lease.tenant, request.args)}
        cancel = CancelToken()

        async def draft(attempt: int) -> Draft:
            work = partial(drafting.draft, method=tool.method, args=args, attempt=attempt)
            if not (tool.in_workspace or args.get("files")):
                return await asyncio.to_thread(work, None, check=cancel.check)
            async with self._workspaces.at_work(lease.tenant, session):
                workspace = await self._workspaces.take(lease.tenant, session, request.root, turn=request.turn_id)
                await self._workspaces.fill(lease.tenant, workspace)
                drafted = await asyncio.to_thread(work, workspace.stage, check=cancel.check)
                self._workspaces.keep(lease.tenant, session, workspace)
            return drafted

        with cancel:
            task = Task(lease, request, session, StepType(tool.method), args, draft, cancel.check)
            done = await self._studio.make(task)
            if "save_as" not in args:
                return CallOutput(done.data, done.summary, warnings=done.warnings, rows=done.rows, events=done.events)
            async with self._workspaces.at_work(lease.tenant, session):
                staged = await self._saved(lease, request, session, done)
        return replace(staged, rows=done.rows, events=done.events)

    async def _saved(self, lease: Lease, request: ToolRequested, session: str, done: Produced) -> CallOutput:
        """Stage the asset as a new file."""
        workspace = await self._workspaces.take(lease.tenant, session, request.root, turn=request.turn_id)
        await self._workspaces.fill(lease.tenant, workspace)
        context = ToolContext(
            workspace.stage, self._categories(), mutates=True, reason=request.tool, limits=self._limits
        )
        before = workspace.stage.version
        path, applied = await asyncio.to_thread(saving.save, context, str(request.args["save_as"]), done.content)
        summary = f"{done.summary} Saved it as {path}."
        output = ToolOutput({**done.data, "path": path}, summary, applied=applied, warnings=done.warnings)
        return await self._staged(lease, request, workspace, before=before, done=output)

    async def _ask(self, lease: Lease, request: ToolRequested, host: str) -> None:
        """Ask policy whether a call may go on to another host, and record the decision before it does."""
        cause = calls.cause_within(lease, f"redirect:{host}")
        try:
            decision = await self._chain.check_host(cause, request, host)
        except LinkRefused as refused:
            revision = self._platform.policy.revision
            denied = calls.recorded(request, "decision", "deny", rule=refused.link, revision=revision)
            await self._platform.writer.apply(Changeset(cause).emit(denied))
            raise LinkRefused(refused.link, f"it redirects to {host}: {refused.reason}") from refused
        await self._platform.writer.apply(Changeset(cause).emit(calls.allowed(request, decision)))

    async def _staged(
        self, lease: Lease, request: ToolRequested, workspace: Workspace, *, before: int, done: ToolOutput
    ) -> CallOutput:
        applied = done.applied
        if applied is None:
            raise ValueError("nothing was staged")
        contents = await self._workspaces.save(lease.tenant, workspace)
        # The revision that this call expects to write: `ended` refuses it if the stage has moved meanwhile.
        workspace.revision += 1
        return CallOutput(
            done.data,
            done.summary,
            workspace,
            done.reads,
            done.warnings,
            operations=(await asyncio.to_thread(applied.operation.model_dump, mode="json"),),
            base=before,
            length=applied.version,
            # Derived: a repetition after a crash names the same snapshot.
            snapshot=(ids.derived(request.call_id, "snapshot"), before),
            diff=await asyncio.to_thread(shown_diff.of_stage, workspace.stage, workspace.revision, self._history.days),
            contents=contents,
        )

    async def _search(self, lease: Lease, session: str, workspace: Workspace, args: dict[str, Any]) -> CallOutput:
        cancel = CancelToken()
        with cancel:
            found, unknown = await self._contents.search(lease.tenant, workspace, Question.of(args), check=cancel.check)
        self._workspaces.keep(lease.tenant, session, workspace)
        alone = await asyncio.to_thread(_left_alone, workspace.stage, args["path"])
        return CallOutput(
            as_data(found, unknown) | alone,
            f"Found {many(found.count, 'file')}.",
            reads=tuple(match.path for match in found.matches),
            warnings=(STALE.format(n=unknown.stale),) if unknown.stale else (),
        )

    async def _commit(self, lease: Lease, request: ToolRequested, session: str) -> CallOutput:
        """Commit the stage to the disk, all of it or nothing. Asked again after a crash, it reports the outcome."""
        commit_id, root = str(request.args["commit_id"]), self._workspaces.allowed(lease.tenant, request.root)
        done = await self._already(lease, root, commit_id) or await self._committed(lease, request, session, root)
        self._contents.changed(lease.tenant, root)
        diff = shown_diff.of_net(done.diff, 0, self._history.days)
        return CallOutput(
            {"operations": done.operations, "commit_id": commit_id},
            f"Committed {many(done.operations, 'change')}.",
            warnings=(*done.warnings, *(f"{late.path}: {late.reason}" for late in done.late)),
            length=0,
            ended=True,
            diff=diff,
            commit_id=commit_id,
            journal=_journal(request, root, commit_id, "committed", done.operations, diff),
        )

    async def _committed(self, lease: Lease, request: ToolRequested, session: str, root: Path) -> Committed:
        turn, root_name = request.turn_id, request.root
        workspace = await self._workspaces.take(lease.tenant, session, root_name, turn=turn, fresh=True)
        # The person approved exactly this revision; a stage that changed since shows another diff.
        if workspace.revision != request.args["version"]:
            raise StaleDiff("the stage has changed since its diff was approved; look at it again")
        await self._workspaces.fill(lease.tenant, workspace)
        await self._workspaces.own(root)
        commit_id, exclude = str(request.args["commit_id"]), tuple(map(str, request.args.get("exclude", ())))
        fence, stage = fence_of(lease), workspace.stage
        done, removed = await self._whole(
            lease,
            root,
            lambda: commit(root, stage, commit_id=commit_id, fence=fence, exclude=exclude, step=self._step),
            needs=stage.bytes_to_write,
        )
        return replace(done, warnings=(*done.warnings, *_removed(removed)))

    async def _whole(self, lease: Lease, root: Path, action: Callable[[], T], *, needs: int = 0) -> tuple[T, Pruned]:
        """Change files, all of it or nothing, after settling what a crash left behind.

        On a full disk old history makes room for `needs` bytes, once; the result names what was removed.
        """
        try:
            return await self._tried(lease, root, action), Pruned()
        except NoSpace as full:
            removed = await self._history.make_room(lease, root, needs)
            if not removed.commits:
                raise NoSpace(f"{full}; `suma purge` frees what the history of {root} holds") from full
            return await self._tried(lease, root, action), removed

    async def _tried(self, lease: Lease, root: Path, action: Callable[[], T]) -> T:
        try:
            return await _uncancelled(lambda: _answering(action))
        except Unfinished:
            await self._settle(lease, root)
            return await _uncancelled(lambda: _answering(action))

    def _step(self, done: str) -> None:
        """Mark an operation on files, at which the process may die or stall."""
        self._platform.point(f"{GROUP}:files:{done.partition(':')[0]}")

    async def _settle(self, lease: Lease, root: Path) -> None:
        """Settle a commit. The new holder of a lease may take the lock from a stopped one (A25)."""
        await self._workspaces.settle(root, hold=seize if lease.attempts > 1 else lock, fence=fence_of(lease))

    async def _already(self, lease: Lease, root: Path, commit_id: str) -> Committed | None:
        """Return the commit's result, if it was done before."""
        try:
            found = await asyncio.to_thread(outcome, root, commit_id)
        except Unfinished:
            await self._settle(lease, root)
            found = await asyncio.to_thread(outcome, root, commit_id)
        if found != "committed":
            return None
        done = await asyncio.to_thread(committed, root, commit_id)
        if done is None:
            # It was killed between its last mark and putting itself away, which settling does.
            await self._settle(lease, root)
            done = await asyncio.to_thread(committed, root, commit_id)
        return done

    async def _roll_back(self, lease: Lease, request: ToolRequested) -> CallOutput:
        """Undo a commit, or make its changes again."""
        turn, state = (redo, "committed") if request.tool == REDO else (rollback, "rolled_back")
        commit_id, root = str(request.args["commit_id"]), self._workspaces.allowed(lease.tenant, request.root)
        exclude, fence = tuple(map(str, request.args.get("exclude", ()))), fence_of(lease)
        back: RolledBack
        try:
            back, removed = await self._whole(
                lease,
                root,
                # The journal keeps the call's id, so a repetition after a crash returns the first result.
                lambda: turn(root, commit_id, fence=fence, exclude=exclude, request=request.call_id, step=self._step),
            )
        except (HistoryGone, NoSuchCommit) as error:
            raise await self._history.gone(lease.tenant, commit_id) or error from None
        self._contents.changed(lease.tenant, root)
        empty = Diff(version=0, count=0)
        return CallOutput(
            {"operations": back.operations, "commit_id": commit_id, "whole": not exclude, "change": state},
            _rollback_summary(back, exclude, state),
            warnings=(*back.warnings, *_removed(removed)),
            commit_id=commit_id,
            # After a partial one the commit keeps its state: the rest can still follow.
            journal=None if exclude else _journal(request, root, commit_id, state, back.operations, empty),
        )

    async def _restore(self, lease: Lease, request: ToolRequested, session: str) -> CallOutput:
        workspace = await self._workspaces.take(lease.tenant, session, request.root, turn=request.turn_id)
        version = await self._platform.database.row(
            GROUP, lease.tenant, queries.snapshot, session=session, snapshot=str(request.args["snapshot"])
        )
        if version is None:
            raise NotFound("there is no such snapshot")
        await asyncio.to_thread(workspace.stage.rollback, version)
        workspace.revision += 1
        diff = await asyncio.to_thread(shown_diff.of_stage, workspace.stage, workspace.revision, self._history.days)
        summary = "The stage is as it was before that step."
        return CallOutput({}, summary, workspace, length=version, base=version, diff=diff)


def _left_alone(stage: Stage, path: str) -> dict[str, Any]:
    with suppress(Rejected):
        return left_alone(stage, {"path": path}, recursive=True)
    return {}


def _removed(history: Pruned) -> Iterator[str]:
    """Return a warning about the history that was removed to make room."""
    if history.commits:
        count = many(len(history.commits), "older commit")
        yield f"The disk was full: the history of {count} was removed ({human(history.size)}); they cannot be undone."


def _rollback_summary(back: RolledBack, exclude: Sequence[str], state: str) -> str:
    if not back.operations:
        return f"There was nothing left to {'redo' if state == 'committed' else 'roll back'}."
    made, rest = many(back.operations, "change"), f", but for {len(exclude)} that were left out" if exclude else ""
    return (
        f"Made {made} again{rest}."
        if state == "committed"
        else f"Rolled back {made}; the files are as they were{rest}."
    )


# Called before each change on the disk: a process that slept beyond its lease must not act beside its successor.
def fence_of(lease: Lease) -> Callable[[], None]:
    def check() -> None:
        if not lease.valid():
            raise LeaseLost()

    return check


def _answering(action: Callable[[], T]) -> T:
    """Report a conflict with a foreign change as a result, since it is not a race within Suma."""
    try:
        return action()
    except CommitConflict as error:
        raise FilesChanged(error.paths, str(error)) from error
    except Conflict as error:
        raise FilesChanged((), str(error)) from error
    except OSError as error:
        # The journal failed, perhaps in the middle of a change: another attempt settles that first.
        kind = NoSpace if error.errno in FULL else Failed
        raise kind(f"{HIDDEN}: {error.strerror}; a change that this interrupted is undone first") from error


async def _uncancelled(action: Callable[[], T]) -> T:
    """Run a commit to its end: once begun, it finishes or is undone, and a cancel waits for that."""
    thread = asyncio.ensure_future(asyncio.to_thread(action))
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        # The cancel is swallowed: files have changed, so the result must be reported.
        return await thread


@asynccontextmanager
async def _deadline(seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise TimedOut(f"the call took longer than {seconds:.0f} s") from None


def _journal(
    request: ToolRequested, root: Path, commit_id: str, state: str, operations: int, diff: Diff
) -> JournalEntry:
    """Return the journal's mirror; the handler that writes it knows the session."""
    return JournalEntry(
        commit_id=commit_id,
        session_id="",
        turn_id=request.turn_id,
        root=str(root),
        state=state,
        operations=operations,
        diff=diff.model_dump(mode="json"),
    )
