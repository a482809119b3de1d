import { expect, test } from "vitest";

import { containerResources } from "../../../runtime/adapters/docker/container-resources.ts";

test("without limits there is only the bound on processes", () => {
  expect(containerResources({}, {}, 2)).toEqual({ PidsLimit: 256 });
});

test("limits and requests become what the engine counts in", () => {
  expect(containerResources({ memory: "128Mi", cpu: "1500m" }, { memory: "64M", cpu: "0.25" }, 2)).toEqual({
    PidsLimit: 256,
    Memory: 134_217_728,
    MemorySwap: 134_217_728,
    MemoryReservation: 64_000_000,
    NanoCpus: 1_500_000_000,
    CpuShares: 256,
  });
});

test.each([
  ["64", 2_000_000_000],
  ["1m", 10_000_000],
])("processors stay within what the engine takes: %s", (cpu, nanoCpus) => {
  expect(containerResources({ cpu }, {}, 2).NanoCpus).toBe(nanoCpus);
});

test("the smallest share is the engine's", () => {
  expect(containerResources({}, { cpu: "1m" }, 2).CpuShares).toBe(2);
});

test("graphics processors are asked for by number; other devices are refused in a sentence", () => {
  expect(containerResources({ "nvidia.com/gpu": "2" }, {}, 2).DeviceRequests).toEqual([
    { Driver: "nvidia", Count: 2, Capabilities: [["gpu"]] },
  ]);
  expect(() => containerResources({ "amd.com/gpu": "1" }, {}, 2)).toThrow('Cannot give a container "amd.com/gpu"');
});
