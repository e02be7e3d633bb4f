import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { MessageCircleQuestion, ShieldCheck } from "lucide-react";
import type { Schemas } from "@/api/client";
import { approvalsQuery, useQuestions } from "@/api/queries";
import { type Ask, ApprovalCard } from "@/chat/approval-card";
import { Empty, Loaded } from "@/components/states";
import { Ago } from "@/components/time";
import { VirtualList } from "@/components/virtual-list";
import { PageHead } from "@/components/ui";
import { useMore } from "@/lib/use-more";

const HEIGHT = 320;

/** Approvals: all that waits for a decision, over all sessions, the oldest first. */
export default function Approvals() {
  const query = useInfiniteQuery(approvalsQuery);
  const more = useMore(query);
  const questions = useQuestions();
  return (
    <div className="flex h-full flex-col">
      <PageHead title="Approvals" about="What waits for your decision, the oldest first. Nothing happens without one." />
      {questions.length > 0 && (
        <ul aria-label="Questions" className="flex max-w-3xl flex-col gap-1 px-4 pb-3 md:px-6">
          {questions.map(({ session_id, title, last_at }) => (
            <li key={session_id} className="flex items-center gap-2 text-sm">
              <MessageCircleQuestion aria-hidden className="size-4 shrink-0 text-warn" />
              <Link to="/chat/{-$session}" params={{ session: session_id }} className="min-w-0 flex-1 truncate font-medium text-accent-ink hover:underline">{title ?? "Untitled"} asks a question</Link>
              <span className="shrink-0 text-muted"><Ago time={last_at} /></span>
            </li>
          ))}
        </ul>
      )}
      <div className="min-h-0 flex-1 px-4 md:px-6">
        <Loaded
          query={query}
          empty={({ pages }) =>
            pages[0]?.approvals.length === 0 && questions.length === 0 && (
              <Empty icon={ShieldCheck} title="Nothing waits for you">
                Approvals of all your sessions appear here.
              </Empty>
            )
          }
        >
          {({ pages }) => (
            <VirtualList items={pages.flatMap(({ approvals }) => approvals)} keyOf={(each) => each.approval_id} height={HEIGHT} label="Open approvals" more={more}>
              {(approval) => (
                <div className="max-w-3xl pb-4">
                  <ApprovalCard level="h2" ask={askOf(approval)} where={<Where approval={approval} />} />
                </div>
              )}
            </VirtualList>
          )}
        </Loaded>
      </div>
    </div>
  );
}

function Where({ approval }: { approval: Schemas["ApprovalShown"] }) {
  return (
    <p className="text-sm text-muted">
      Asked <Ago time={approval.opened_at} /> in{" "}
      <Link to="/chat/{-$session}" params={{ session: approval.session_id }} className="font-medium text-accent-ink underline">
        this session
      </Link>
    </p>
  );
}

function askOf(approval: Schemas["ApprovalShown"]): Ask {
  return {
    session: approval.session_id,
    approvalId: approval.approval_id,
    kind: approval.kind,
    digest: approval.digest,
    data: approval.data,
    askedAt: approval.opened_at,
    expiresAt: approval.expires_at,
    outcome: approval.outcome,
    reason: approval.reason,
    principal: approval.principal,
  };
}
