import { useEffect, useMemo } from "preact/hooks";

import { useConsole } from "../console-context.ts";

/** Does something again and again while somebody looks at the page. */
export function useRepeat(act: () => void, every: number): void {
  const { stream } = useConsole();
  const latest = useMemo(() => ({ act }), []);
  latest.act = act;
  useEffect(() => {
    const timer = setInterval(() => {
      if (stream.isWatched) latest.act();
    }, every);
    return () => clearInterval(timer);
  }, [stream, every]);
}
