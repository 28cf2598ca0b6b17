/** Content delivery networks that people put in front of a server, by their published addresses and the names they give out. */
import { BlockList, isIPv4 } from 'node:net';

interface Cdn {
  readonly name: string;
  readonly networks: readonly string[];
  readonly suffixes: readonly string[];
}

const words = (text: string) => text.trim().split(/\s+/);

const known: readonly Cdn[] = [
  {
    name: 'Cloudflare',
    networks: words(`
      173.245.48.0/20 103.21.244.0/22 103.22.200.0/22 103.31.4.0/22 141.101.64.0/18 108.162.192.0/18
      190.93.240.0/20 188.114.96.0/20 197.234.240.0/22 198.41.128.0/17 162.158.0.0/15 104.16.0.0/13
      104.24.0.0/14 172.64.0.0/13 131.0.72.0/22 2400:cb00::/32 2606:4700::/32 2803:f800::/32
      2405:b500::/32 2405:8100::/32 2a06:98c0::/29 2c0f:f248::/32`),
    suffixes: ['cdn.cloudflare.net', 'cloudflare.net'],
  },
  {
    name: 'Fastly',
    networks: words(`
      23.235.32.0/20 43.249.72.0/22 103.244.50.0/24 103.245.222.0/23 103.245.224.0/24 104.156.80.0/20
      140.248.64.0/18 140.248.128.0/17 146.75.0.0/17 151.101.0.0/16 157.52.64.0/18 167.82.0.0/17
      167.82.128.0/20 167.82.160.0/20 167.82.224.0/20 172.111.64.0/18 185.31.16.0/22 199.27.72.0/21
      199.232.0.0/16 2a04:4e40::/32 2a04:4e42::/32`),
    suffixes: ['fastly.net', 'fastlylb.net', 'fastly-edge.com'],
  },
  {
    name: 'Amazon CloudFront',
    networks: words(`
      13.32.0.0/15 13.35.0.0/16 13.224.0.0/14 13.249.0.0/16 18.64.0.0/14 18.154.0.0/15 18.160.0.0/15
      18.164.0.0/15 18.172.0.0/15 18.238.0.0/15 18.244.0.0/15 52.84.0.0/15 52.222.128.0/17 54.182.0.0/16
      54.192.0.0/16 54.230.0.0/17 54.230.128.0/18 54.239.128.0/18 65.8.0.0/16 65.9.0.0/17 70.132.0.0/18
      99.84.0.0/16 99.86.0.0/16 108.138.0.0/15 108.156.0.0/14 143.204.0.0/16 3.160.0.0/14 3.165.0.0/16
      3.166.0.0/15 3.168.0.0/14 15.158.0.0/16 130.176.0.0/17 2600:9000::/28`),
    suffixes: ['cloudfront.net'],
  },
  {
    name: 'Akamai',
    networks: [],
    suffixes: ['edgekey.net', 'edgesuite.net', 'akamaiedge.net', 'akamai.net', 'akamaized.net'],
  },
  { name: 'Azure Front Door', networks: [], suffixes: ['azurefd.net', 'azureedge.net', 't-msedge.net'] },
  { name: 'bunny.net', networks: [], suffixes: ['b-cdn.net'] },
  { name: 'KeyCDN', networks: [], suffixes: ['kxcdn.com'] },
  { name: 'CDN77', networks: [], suffixes: ['cdn77.org', 'cdn77.net'] },
  { name: 'Gcore', networks: [], suffixes: ['gcdn.co'] },
  { name: 'Imperva', networks: [], suffixes: ['impervadns.net', 'incapdns.net'] },
  {
    name: 'Sucuri',
    networks: ['192.88.134.0/23', '185.93.228.0/22', '66.248.200.0/22', '2a02:fe80::/29'],
    suffixes: ['sucuri.net', 'sucuridns.com'],
  },
];

const lists = known.map(({ name, networks, suffixes }) => {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits = ''] = network.split('/');
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return { name, list, suffixes };
});

export function cdnOf(aliases: readonly string[], addresses: readonly string[]): string | undefined {
  const isBehind = (suffix: string) => aliases.some((alias) => alias.endsWith(`.${suffix}`));
  const holds = (list: BlockList) =>
    addresses.some((address) => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6'));
  return lists.find(({ list, suffixes }) => suffixes.some(isBehind) || holds(list))?.name;
}
