// Attempts of a command. After a lost answer the command may have been done, so an equal attempt reuses its key.
import { newKey } from "./client";
import { asProblem } from "./problem";

export class Attempts {
  private lost: { body: string; key: string } | null = null;

  /** Send a body with its Idempotency-Key. Throws what `request` throws. */
  async send<T>(body: unknown, request: (key: string) => Promise<T>): Promise<T> {
    const attempt = { body: JSON.stringify(body), key: newKey() };
    if (this.lost?.body === attempt.body) attempt.key = this.lost.key;
    try {
      const answer = await request(attempt.key);
      this.lost = null;
      return answer;
    } catch (error) {
      if (mayBeDone(error)) this.lost = attempt;
      throw error;
    }
  }
}

/** Whether the server may have done what it did not confirm. */
function mayBeDone(error: unknown): boolean {
  const { status } = asProblem(error);
  return status <= 0 || status >= 500;
}
