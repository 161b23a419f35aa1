/**
 * Returns the order of measurements: the items alternately forwards and backwards (ABC CBA ABC …),
 * so that a drift of the machine affects all items alike.
 */
export function abbaOrder<T>(items: readonly T[], turns: number): T[] {
  return Array.from({ length: turns }, (_, turn) =>
    turn % 2 === 0 ? items : items.toReversed(),
  ).flat()
}

/** Measures the items of `order` one after the other. */
export async function measureEach<T, M>(
  order: readonly T[],
  measure: (item: T) => Promise<M>,
): Promise<M[]> {
  const measured: M[] = []
  for (const item of order) measured.push(await measure(item))
  return measured
}
