/** Until when each release gets security fixes without a contract. Debian: the end of its long-term support. */
const ends: Readonly<Record<string, string>> = {
  'debian 10': '2024-06-30',
  'debian 11': '2026-08-31',
  'debian 12': '2028-06-30',
  'debian 13': '2030-06-30',
  'ubuntu 20.04': '2025-05-31',
  'ubuntu 22.04': '2027-06-01',
  'ubuntu 22.10': '2023-07-20',
  'ubuntu 23.04': '2024-01-25',
  'ubuntu 23.10': '2024-07-11',
  'ubuntu 24.04': '2029-05-31',
  'ubuntu 24.10': '2025-07-10',
  'ubuntu 25.04': '2026-01-15',
  'ubuntu 25.10': '2026-07-09',
  'ubuntu 26.04': '2031-05-29',
};

export function supportEnd(id: string, version: string): Date | undefined {
  const key = `${id} ${version}`;
  const end = Object.hasOwn(ends, key) ? ends[key] : undefined;
  return end === undefined ? undefined : new Date(`${end}T23:59:59Z`);
}
