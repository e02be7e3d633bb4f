// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider, useInfiniteQuery } from "@tanstack/react-query";
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";
import { VirtualList } from "@/components/virtual-list";
import { useMore } from "@/lib/use-more";

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

function Numbers({ read }: { read: (page: number) => Promise<number[]> }) {
  const query = useInfiniteQuery({ queryKey: ["numbers"], queryFn: ({ pageParam }) => read(pageParam), initialPageParam: 0, getNextPageParam: (_, pages) => (pages.length < 2 ? pages.length : undefined) });
  const more = useMore(query);
  return (
    <VirtualList items={query.data?.pages.flat() ?? []} keyOf={(number) => number.toString()} height={20} label="Numbers" more={more}>
      {(number) => <p>{number}</p>}
    </VirtualList>
  );
}

test("a failed next page is read again only when asked", async () => {
  // The test's browser lays nothing out, and a list without a height draws no rows.
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(500);
  let [broken, reads] = [true, 0];
  const read = (page: number) => {
    reads += page;
    return page === 1 && broken ? Promise.reject(new Error("away")) : Promise.resolve([page]);
  };
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(<QueryClientProvider client={client}><Numbers read={read} /></QueryClientProvider>);
  const again = await screen.findByRole("button", { name: "Try again" });
  for (let turn = 0; turn < 20; turn += 1) await act(() => Promise.resolve());
  expect(reads).toBe(1);
  broken = false;
  await userEvent.click(again);
  await expect.poll(() => screen.queryByRole("button", { name: "Try again" })).toBeNull();
  expect(reads).toBe(2);
});
