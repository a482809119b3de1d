import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { desireFunction, type DesiredFunction } from "../../../../runtime/core/functions/desired-function.ts";
import { readFacts } from "../../../../runtime/core/functions/function-facts.ts";
import { wakeReplicas } from "../../../../runtime/core/scaling/wake-replicas.ts";
import { scaleFunction } from "../../../../runtime/core/scaling/scale-function.ts";
import { Scaler } from "../../../../runtime/core/scaling/scaler.ts";
import { ScalingSimulation, type SimulatedGateway } from "../../../support/scaling-simulation.ts";

let simulation: ScalingSimulation;
let gateway: SimulatedGateway;

beforeEach(() => {
  vi.useFakeTimers();
  open();
});
afterEach(() => void vi.useRealTimers());

function open(): void {
  simulation = new ScalingSimulation((milliseconds) => vi.advanceTimersByTime(milliseconds));
  gateway = simulation.gateway();
}

const key = "echo.functions";
const echo = { namespace: "functions", name: "echo" };
const sleeping = { "com.service.scale.zero": "true", "com.service.scale.zero-duration": "20s" };
const replicas = () => simulation.replicas("echo");
const totalsOf = (of: SimulatedGateway) => {
  const totals = of.totals.get(key) ?? { finished: 0, inFlight: 0 };
  of.totals.set(key, totals);
  return totals;
};
/** This many calls end per second, spread evenly; each call of the returned function adds one step of 100 ms. */
const load =
  (of: SimulatedGateway, perSecond: (at: number) => number): ((at: number) => void) =>
  (at) => {
    totalsOf(of).finished += perSecond(at) / 10;
  };

describe("by load", () => {
  test("goes up and down with the load, one step each, within its bounds", async () => {
    await simulation.deploy("echo", { "com.service.scale.max": "8" });
    await simulation.run(
      30_000,
      load(gateway, () => 30),
    );
    expect(simulation.changes).toEqual([]);
    await simulation.run(
      60_000,
      load(gateway, () => 200),
    );
    expect(await replicas()).toBe(5);
    expect(simulation.changes.length).toBeLessThanOrEqual(2);
    await simulation.run(
      60_000,
      load(gateway, () => 2_000),
    );
    expect(await replicas()).toBe(8);
    expect(simulation.changes.length).toBeLessThanOrEqual(4);
    await simulation.run(
      60_000,
      load(gateway, () => 10),
    );
    expect(await replicas()).toBe(1);
    expect(simulation.changes.length).toBeLessThanOrEqual(6);
  });

  test("noise does not flap: once settled, a load that varies by a tenth scales up once at most", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 5, max: 900 }),
        fc.array(fc.double({ min: -0.045, max: 0.045, noNaN: true }), { minLength: 10, maxLength: 10 }),
        async (mean, sway) => {
          open();
          await simulation.deploy("echo", { "com.service.scale.max": "1000" });
          await simulation.run(
            40_000,
            load(gateway, () => mean),
          );
          const before = simulation.changes.length;
          const exact = mean / 45;
          await simulation.run(
            120_000,
            load(gateway, (at) => mean * (1 + (sway[Math.floor(at / 3_000) % 10] ?? 0))),
          );
          expect(simulation.changes.length - before).toBeLessThanOrEqual(1);
          expect(Math.abs(((await replicas()) ?? 0) - Math.max(1, Math.ceil(exact)))).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 25 },
    );
  });

  test("calls in flight count for capacity, even when none ends", async () => {
    await simulation.deploy("echo", { "com.service.scale.type": "capacity", "com.service.scale.target": "10" });
    await simulation.run(30_000, () => void (totalsOf(gateway).inFlight = 30));
    expect(await replicas()).toBe(4);
    await simulation.run(30_000, () => void (totalsOf(gateway).inFlight = 0));
    expect(await replicas()).toBe(1);
  });

  test("several gateways add up, and one that stops cleanly does not prevent scaling down", async () => {
    await simulation.deploy("echo", {});
    const other = simulation.gateway();
    const both = (perSecond: number) => (at: number) => {
      load(gateway, () => perSecond)(at);
      load(other, () => perSecond)(at);
    };
    await simulation.run(30_000, both(100));
    expect(await replicas()).toBe(5);
    other.stop();
    await simulation.run(
      30_000,
      load(gateway, () => 40),
    );
    expect(await replicas()).toBe(1);
  });

  test("a count set by hand is left alone while it is on hold: up, down and to zero", async () => {
    await simulation.deploy("echo", sleeping);
    await simulation.run(10_000);
    await scaleFunction(simulation.functions, echo, 3, 300_000, () => simulation.now);
    await simulation.run(
      150_000,
      load(gateway, () => 1_000),
    );
    await simulation.run(148_000);
    expect(await replicas()).toBe(3);
    expect(simulation.changes).toEqual([]);
    expect(simulation.decisions.get("echo")).toMatchObject({ action: "keep", because: "on-hold" });
    await simulation.run(4_000);
    expect(await replicas()).toBe(0);
  });

  test("a call wakes a function that was set to zero by hand, and ends the hold", async () => {
    await simulation.deploy("echo", sleeping);
    await scaleFunction(simulation.functions, echo, 0, 300_000, () => simulation.now);
    await wakeReplicas(simulation.functions, echo, () => simulation.now);
    expect(await replicas()).toBe(1);
    await simulation.run(24_000);
    expect(await replicas()).toBe(0);
  });

  test("without a hold, a count set by hand stays for a window", async () => {
    await simulation.deploy("echo", {});
    await simulation.run(30_000);
    await scaleFunction(simulation.functions, echo, 5, 0, () => simulation.now);
    await simulation.run(8_000);
    expect(await replicas()).toBe(5);
    await simulation.run(8_000);
    expect(await replicas()).toBe(1);
  });
});

describe("to zero", () => {
  test("after the idle time, and again that long after a wake", async () => {
    await simulation.deploy("echo", sleeping);
    await simulation.run(18_000);
    expect(await replicas()).toBe(1);
    await simulation.run(6_000);
    expect(await replicas()).toBe(0);
    await wakeReplicas(simulation.functions, echo, () => simulation.now);
    await simulation.run(18_000);
    expect(await replicas()).toBe(1);
    await simulation.run(6_000);
    expect(simulation.changes.map(({ replicas: count, because }) => [count, because])).toEqual([
      [0, "idle"],
      [0, "idle"],
    ]);
  });

  test("not while a call is in flight, however long it is silent, nor before the idle time after its end", async () => {
    await simulation.deploy("echo", sleeping);
    totalsOf(gateway).inFlight = 1;
    await simulation.run(300_000);
    expect(simulation.changes).toEqual([]);
    expect(simulation.decisions.get("echo")).toMatchObject({ action: "keep", awake: "busy" });
    totalsOf(gateway).inFlight = 0;
    totalsOf(gateway).finished = 1;
    await simulation.run(18_000);
    expect(await replicas()).toBe(1);
    await simulation.run(8_000);
    expect(await replicas()).toBe(0);
  });

  test("not with one call within each idle time", async () => {
    await simulation.deploy("echo", sleeping);
    await simulation.run(300_000, (at) => {
      if (at % 17_000 === 0) totalsOf(gateway).finished += 1;
    });
    expect(simulation.changes).toEqual([]);
  });
});

describe("activity that is missing (FP9)", () => {
  test("without reports of a gateway nothing ever goes down or to zero", async () => {
    await simulation.deploy("echo", sleeping);
    await scaleFunction(simulation.functions, echo, 5, 0, () => simulation.now);
    gateway.cut = true;
    await simulation.run(900_000);
    expect(simulation.changes).toEqual([]);
    expect(simulation.decisions.get("echo")).toMatchObject({ action: "keep", awake: "reports-missing" });
    gateway.cut = false;
    await simulation.run(8_000);
    expect(simulation.changes).toEqual([]);
    await simulation.run(20_000);
    expect(await replicas()).toBe(0);
  });

  test("a killed gateway prevents scaling down for the silence timeout; its load stops counting at once", async () => {
    await simulation.deploy("echo", {});
    const other = simulation.gateway();
    totalsOf(other).inFlight = 7;
    await simulation.run(
      30_000,
      load(gateway, () => 100),
    );
    expect(await replicas()).toBe(3);
    other.kill();
    await simulation.run(
      40_000,
      load(gateway, () => 10),
    );
    expect(await replicas()).toBe(3);
    await simulation.run(
      60_000,
      load(gateway, () => 10),
    );
    expect(await replicas()).toBe(1);
  });

  test("after a lost report nothing goes down before a window of complete reports", async () => {
    await simulation.deploy("echo", {});
    await simulation.run(
      30_000,
      load(gateway, () => 100),
    );
    await simulation.run(
      2_000,
      load(gateway, () => 10),
    );
    gateway.cut = true;
    await simulation.run(
      1_000,
      load(gateway, () => 10),
    );
    gateway.cut = false;
    await simulation.run(
      8_000,
      load(gateway, () => 10),
    );
    expect(await replicas()).toBe(3);
    expect(simulation.decisions.get("echo")).toMatchObject({ because: "window-incomplete" });
    await simulation.run(
      6_000,
      load(gateway, () => 10),
    );
    expect(await replicas()).toBe(1);
  });
});

describe("restarts", () => {
  const steadyThrough = async (restart: (at: number) => Promise<void> | void): Promise<void> => {
    await simulation.deploy("echo", sleeping);
    await simulation.run(
      30_000,
      load(gateway, () => 100),
    );
    const before = simulation.changes.length;
    for (let round = 0; round < 20; round++) {
      await restart(round);
      await simulation.run(
        5_000,
        load(gateway, () => 100),
      );
    }
    expect(simulation.changes.slice(before)).toEqual([]);
  };

  test("of the autoscaler change no function without cause", () =>
    steadyThrough((round) => (round % 3 === 0 ? simulation.restart() : undefined)));

  test("of gateways, one after the other, change no function without cause", () =>
    steadyThrough((round) => {
      if (round % 3 !== 0) return;
      gateway.stop();
      gateway = simulation.gateway();
    }));

  test("of gateways by force change no function without cause", () =>
    steadyThrough((round) => {
      if (round % 5 !== 0) return;
      gateway.kill();
      gateway = simulation.gateway();
    }));

  test("of the autoscaler scale no function to zero earlier, nor later than its idle time afterwards", async () => {
    await simulation.deploy("echo", sleeping);
    await simulation.run(18_000);
    await simulation.restart();
    await simulation.run(18_000);
    expect(await replicas()).toBe(1);
    await simulation.run(6_000);
    expect(await replicas()).toBe(0);
  });
});

test("a function that is removed and created again starts without history", async () => {
  await simulation.deploy("echo", {});
  await simulation.run(
    30_000,
    load(gateway, () => 100),
  );
  expect(await replicas()).toBe(3);
  await simulation.functions.remove(echo);
  gateway.totals.clear();
  await simulation.run(4_000);
  expect([...simulation.scaler.plans(simulation.now, simulation.now)]).toEqual([]);
  await simulation.deploy("echo", {});
  await simulation.run(30_000);
  expect(await replicas()).toBe(1);
});

test("a function changes at most once in a sweep, whatever coincides", async () => {
  await simulation.deploy("echo", { ...sleeping, "com.service.scale.min": "3", "com.service.scale.max": "9" });
  await scaleFunction(simulation.functions, echo, 1, 0, () => simulation.now);
  await simulation.run(200_000, (at) => {
    if (at % 50_000 < 20_000) totalsOf(gateway).finished += 40;
  });
  const sweeps = simulation.changes.map(({ at }) => at);
  expect(new Set(sweeps).size).toBe(sweeps.length);
});

describe("the state of a function", () => {
  const options = {
    window: 10_000,
    silenceTimeout: 60_000,
    wakeTimeout: 60_000,
    idleAfter: ({ zeroDuration }: { readonly zeroDuration: number }) => zeroDuration,
  };
  const zero = { "com.service.scale.zero": "true", "com.service.scale.zero-duration": "20s" };
  const made = (labels: Record<string, string>, over: Partial<DesiredFunction> = {}): DesiredFunction => ({
    ...desireFunction(undefined, "functions", { service: "echo", image: "none", labels }, "2026-01-01T00:00:00Z"),
    ...over,
  });
  let scaler: Scaler;
  let reported: number;

  beforeEach(() => {
    scaler = new Scaler(options, 0);
    reported = 0;
  });

  /** One gateway reports each second until then; returns the decision. */
  function at(now: number): string {
    for (; reported * 1_000 < now; reported += 1) {
      scaler.addReport({ source: "gateway-1", number: reported + 1, deltas: [] }, (reported + 1) * 1_000);
    }
    const [plan] = scaler.plans(now, now);
    if (plan === undefined) return "none";
    const { decision } = plan;
    if (decision.action === "scale") return `${decision.because} ${decision.replicas}`;
    return decision.awake === undefined ? decision.because : `${decision.because}, ${decision.awake}`;
  }

  function seen(name: string, wanted: DesiredFunction, ready: number, now: number): void {
    scaler.see(name, { wanted, facts: readFacts(wanted.deployment) }, ready, now);
  }

  test.each<[what: string, changed: Partial<DesiredFunction>, decided: string]>([
    ["nothing", {}, "load-fell 1"],
    ["its replicas", { replicas: 4 }, "cooldown"],
    ["its deployment", { generation: 2 }, "cooldown"],
    ["the reason", { scaled: { reason: "Alert", message: "m", at: "2026-01-01T00:00:25Z" } }, "cooldown"],
  ])("%s changed 5 s ago: %s", (_what, changed, decided) => {
    seen(key, made({}, { replicas: 3 }), 3, 0);
    at(25_000);
    seen(key, made({}, { replicas: 3, ...changed }), 3, 25_000);
    expect(at(30_000)).toBe(decided);
    expect(at(35_000)).toBe("load-fell 1");
  });

  test.each<[what: string, changed: Partial<DesiredFunction>, decided: string]>([
    ["nothing", {}, "idle 0"],
    ["fewer replicas", { replicas: 1 }, "idle 0"],
    ["more replicas", { replicas: 3 }, "recently-used"],
    ["a deployment", { generation: 2 }, "recently-used"],
    ["a recreated function", { createdAt: "2026-01-01T00:00:15Z" }, "recently-used"],
  ])("idle time restarts: %s: %s", (_what, changed, decided) => {
    scaler.count(new Map(), 0);
    seen(key, made(zero, { replicas: 2 }), 2, 0);
    at(15_000);
    seen(key, made(zero, { replicas: 2, ...changed }), 2, 15_000);
    expect(at(20_000)).toContain(decided);
    expect(at(35_000)).toBe("idle 0");
  });

  test("idle time begins when the first replica is ready", () => {
    scaler.count(new Map(), 0);
    seen(key, made(zero), 0, 0);
    at(15_000);
    expect(at(15_000)).toContain("waking");
    seen(key, made(zero), 1, 15_000);
    seen(key, made(zero), 1, 16_000);
    expect(at(34_999)).toContain("recently-used");
    expect(at(35_000)).toBe("idle 0");
  });

  test.each([0, 1])(
    "a function at zero is waking until it is ready, whatever it was before (%i ready meanwhile)",
    (ready) => {
      scaler.count(new Map(), 0);
      seen(key, made(zero), 1, 0);
      seen(key, made(zero, { replicas: 0 }), ready, 5_000);
      expect(at(6_000)).toBe("scaled-to-zero");
      seen(key, made(zero), 0, 10_000);
      expect(at(40_000)).toContain("waking");
      seen(key, made(zero), 1, 41_000);
      expect(at(60_999)).toContain("recently-used");
      expect(at(61_000)).toBe("idle 0");
    },
  );

  test("a recreated function has none of the calls of its predecessor", () => {
    scaler.count(new Map(), 0);
    seen(key, made(zero), 1, 0);
    scaler.addReport({ source: "gateway-1", number: 1, deltas: [{ function: key, finished: 9, inFlight: 0 }] }, 1_000);
    reported = 1;
    at(15_000);
    seen(key, made(zero, { createdAt: "2026-01-01T00:00:02Z" }), 1, 2_000);
    expect(at(22_000)).toBe("idle 0");
    scaler.forget(key);
    expect(at(23_000)).toBe("none");
    seen(key, made(zero), 1, 23_000);
    expect(at(42_999)).toContain("recently-used");
  });

  test("a recreated function has none of the load of its predecessor", () => {
    const busy = made({ "com.service.scale.max": "9" }, { replicas: 2 });
    const report = (from: number, to: number): void => {
      for (reported = from; reported < to; reported += 1) {
        const deltas = [{ function: key, finished: 400, inFlight: 0 }];
        scaler.addReport({ source: "gateway-1", number: reported + 1, deltas }, (reported + 1) * 1_000);
      }
    };
    seen(key, busy, 2, 0);
    report(0, 20);
    expect(at(20_000)).toBe("load-rose 9");
    seen(key, { ...busy, createdAt: "2026-01-01T00:00:20Z" }, 2, 20_000);
    expect(at(20_000)).not.toContain("load-rose");
    report(20, 40);
    expect(at(40_000)).toBe("load-rose 9");
    scaler.forget(key);
    seen(key, busy, 2, 40_000);
    expect(at(40_000)).not.toContain("load-rose");
  });

  test("CPU time counts while it is known", () => {
    const cpu = { "com.service.scale.type": "cpu", "com.service.scale.target": "100" };
    seen(key, made(cpu, { replicas: 2 }), 2, 0);
    scaler.measure("none.functions", 1, 0);
    expect(at(1_000)).toBe("load-unknown");
    for (let now = 1_000; now <= 30_000; now += 1_000) scaler.measure(key, 400, now);
    expect(at(30_000)).toBe("load-rose 5");
    for (let now = 31_000; now <= 60_000; now += 1_000) scaler.measure(key, 0, now);
    expect(at(60_000)).toBe("load-fell 1");
    scaler.measure(key, undefined, 61_000);
    expect(at(61_000)).toBe("load-unknown");
    scaler.measure(key, 0, 62_000);
    expect(at(63_000)).toBe("window-incomplete");
  });

  test("queued calls count while they are known", () => {
    const queue = { "com.service.scale.type": "queue", "com.service.scale.target": "10" };
    seen(key, made(queue, { replicas: 2 }), 2, 0);
    expect(at(20_000)).toBe("load-unknown");
    scaler.count(new Map([[key, 40]]), 20_000);
    expect(at(20_000)).toBe("load-rose 5");
    scaler.count(new Map(), 25_000);
    expect(at(29_999)).toBe("window-incomplete");
    expect(at(30_000)).toBe("load-fell 1");
    scaler.count(undefined, 31_000);
    expect(at(31_000)).toBe("load-unknown");
    scaler.count(new Map(), 32_000);
    expect(at(41_999)).toBe("window-incomplete");
  });

  test("only the metrics that functions are scaled by are read, and none of a function at zero", () => {
    const see = (name: string, labels: Record<string, string>, over: Partial<DesiredFunction> = {}): void => {
      seen(`${name}.functions`, made(labels, { name, ...over }), 1, 0);
    };
    const cpu = { "com.service.scale.type": "cpu" };
    const queue = { "com.service.scale.type": "queue" };
    const fixed = { "com.service.scale.min": "2", "com.service.scale.max": "2" };
    see("plain", {});
    expect(scaler.needs()).toEqual({ cpu: [], queues: [] });
    see("cpu", cpu);
    see("cpu-fixed", { ...cpu, ...fixed });
    see("cpu-asleep", cpu, { replicas: 0 });
    see("queue-fixed", { ...queue, ...fixed });
    expect(scaler.needs()).toMatchObject({ cpu: [{ name: "cpu" }], queues: [] });
    const slow = { service: "q", image: "none", labels: queue, annotations: { "com.service.queue": "slow" } };
    see("queue", queue, { deployment: slow });
    see("queue-too", queue, { deployment: slow });
    see("zero", { ...zero, ...fixed });
    see("zero-asleep", zero, { replicas: 0, deployment: { ...slow, annotations: { "com.service.queue": "other" } } });
    expect(scaler.needs()).toMatchObject({ cpu: [{ name: "cpu" }], queues: ["slow", "default"] });
  });
});

test("a function whose annotations became unusable is left as it is, and does not affect others", () => {
  const stored = (annotations: Readonly<Record<string, string>>): DesiredFunction =>
    desireFunction(undefined, "functions", { service: "old", image: "none", annotations }, new Date(0).toISOString());
  const usable = stored({ "com.service.queue": "reports" });
  const unusable = { ...usable, deployment: stored({ "com.service.queue": "-no queue-" }).deployment };
  const scaler = new Scaler(
    { window: 10_000, silenceTimeout: 300_000, wakeTimeout: 60_000, idleAfter: () => 20_000 },
    0,
  );
  const see = (wanted: DesiredFunction): void =>
    scaler.see("old.functions", { wanted, facts: readFacts(wanted.deployment) }, 1, 0);
  see(usable);
  expect([...scaler.plans(1_000, 1_000)]).toHaveLength(1);
  see(unusable);
  expect([...scaler.plans(2_000, 2_000)]).toHaveLength(0);
});
