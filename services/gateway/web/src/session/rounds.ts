// How a plan differs from the one before it, for a turn that planned again.
import type { Plan, Step } from "./types";

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
