// How a plan differs from the one before it, for a turn that planned again.
import type { Plan, Review, Round, Step } from "./types";

/** One reading of a plan by the committee. `changes` is what differs from the plan before; null for the first. */
export interface Reading {
  review: Review;
  changes: PlanChange[] | null;
}

/** Return the committee's readings in order: each rejection is of a draft, the last approval of the plan itself. */
export function readings(round: Round): Reading[] {
  const plans = [...round.drafts, round.plan];
  // Large drafts are left out of the event, the oldest first.
  const missing = round.reviews.filter((review) => !review.approved).length - round.drafts.length;
  let at = 0;
  return round.reviews.map((review) => {
    const number = at - missing;
    const [before, now] = [plans[number - 1], plans[number]];
    if (!review.approved) at += 1;
    return { review, changes: before && now ? planChanges(before, now) : null };
  });
}

export interface PlanChange {
  kind: "added" | "removed" | "changed";
  description: string;
  detail: string;
}

const key = (step: Step): string => `${step.tool} ${step.description}`;

/** Return the steps that were added, removed, or have other arguments. Steps are matched by tool and description. */
export function planChanges(before: Plan, after: Plan): PlanChange[] {
  const old = new Map((before.steps ?? []).map((step) => [key(step), step]));
  const changes: PlanChange[] = [];
  for (const step of after.steps ?? []) {
    const was = old.get(key(step));
    old.delete(key(step));
    if (was === undefined) changes.push({ kind: "added", description: step.description, detail: step.tool });
    else if (JSON.stringify(was.args) !== JSON.stringify(step.args)) {
      changes.push({ kind: "changed", description: step.description, detail: JSON.stringify(step.args) });
    }
  }
  for (const step of old.values()) changes.push({ kind: "removed", description: step.description, detail: step.tool });
  return changes;
}
