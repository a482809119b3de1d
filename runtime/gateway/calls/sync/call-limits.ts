import type { DesiredFunction } from "../../../core/functions/desired-function.ts";
import {
  callLimit,
  knownLimits,
  type CallLimit,
  type FunctionProtocol,
  type PlatformTimes,
} from "../../../core/functions/function-limits.ts";

/** The limits of synchronous calls of one function (contract §1.2, §2.1, §5.2); `timeout` bounds it to the head of its reply. */
export interface CallLimits extends CallLimit {
  /** Most calls in flight per ready replica; 0 = no limit. */
  readonly concurrencyMax: number;
  /** Whether callers need credentials. */
  readonly authRequired: boolean;
  readonly protocol: FunctionProtocol;
}

/** Platform settings that bound every synchronous call. */
export interface CallSettings extends PlatformTimes {
  /** Whether every function needs credentials. */
  readonly invokeAuth: boolean;
}

/** Tells the limits of functions, each read once per change of the function. */
export function createCallLimits(settings: CallSettings): (wanted: DesiredFunction) => CallLimits {
  const known = new WeakMap<DesiredFunction, CallLimits>();
  return (wanted) => {
    let limits = known.get(wanted);
    if (limits === undefined) {
      limits = read(wanted, settings);
      known.set(wanted, limits);
    }
    return limits;
  };
}

function read(wanted: DesiredFunction, settings: CallSettings): CallLimits {
  const own = knownLimits(wanted.deployment);
  return {
    ...callLimit(settings, own),
    concurrencyMax: own.concurrencyMax,
    authRequired: settings.invokeAuth || own.authRequired,
    protocol: own.protocol,
  };
}
