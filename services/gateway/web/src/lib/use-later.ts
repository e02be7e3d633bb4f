import { useEffect, useState } from "react";

/** A value that follows another one when that has rested for a while, so that each letter asks no server. */
export function useLater<T>(value: T, ms = 250): T {
  const [later, setLater] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => { setLater(value); }, ms);
    return () => { clearTimeout(timer); };
  }, [value, ms]);
  return later;
}
