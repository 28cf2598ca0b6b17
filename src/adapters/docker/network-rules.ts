/**
 * What applications, databases and builds may not reach: the cloud's metadata, which hands out credentials to whoever asks
 * from the machine, and the server itself, but for what everybody may reach there. Only our own networks are meant:
 * containers of the server's owner go where they went before. Private networks stay open, because databases are there.
 */
import { createHash } from 'node:crypto';
import { appPorts } from '../../app-ports.ts';
import { minute } from '../../clock.ts';
import type { Remote } from '../../remote/remote.ts';
import { nftTable, nftUnit } from '../../remote/units/nft-table.ts';
import { appNetworks } from './networks.ts';

const table = 'inet slipway_apps';
/** Of builds; there only while one runs. */
export const buildsTable = 'inet slipway_builds';
/** Held by every build while it runs. */
export const buildsLock = '/run/slipway-builds.lock';

/**
 * Link-local is where all clouds have it; then Alibaba and Azure. Their name servers are at the same addresses, so names
 * are asked there still.
 */
const metadata = '169.254.0.0/16, 100.100.100.200, 168.63.129.16';
const metadata6 = 'fe80::/10, fd00:ec2::/32, fd20:ce::254, fd00:42::42';

/** Names, wherever they are asked; and rules of the server's owner, for what they want reached nevertheless. */
export const exceptions = `meta l4proto { 6, 17 } th dport 53 accept
    include "/etc/slipway/allowed.d/*.nft"`;
/** Those of the proxy are for everybody, and an application may call another, or itself, by its public name. */
export const publicPorts = `tcp dport { 80, 443, ${appPorts.first}-${appPorts.last} } accept`;

/** Refused, not dropped: who tries is told at once. Protocols by their numbers: a small server has no names for them. */
const refused = `  chain refused {
    meta l4proto 6 reject with tcp reset
    reject with icmpx admin-prohibited
  }
`;

/** `to_server` is for all that is sent to the server itself, `to_metadata` for what goes through it. */
export const reachChains = `${refused}  chain to_server {
    ct state established,related accept
    meta l4proto { 1, 58 } accept
    ${publicPorts}
    udp dport 443 accept
    ${exceptions}
    goto refused
  }
  chain to_metadata {
    ct state established,related accept
    ${exceptions}
    ip daddr { ${metadata} } goto refused
    ip6 daddr { ${metadata6} } goto refused
  }
`;

const rules = `${reachChains}  chain input {
    type filter hook input priority filter - 10; policy accept;
    iif "lo" accept
    ip saddr ${appNetworks} goto to_server
  }
  chain forward {
    type filter hook forward priority filter - 10; policy accept;
    ip saddr ${appNetworks} goto to_metadata
  }
`;

/** A chain without rules, by whose name it is seen which rules are loaded. */
const mark = `rules_${createHash('sha256').update(rules).digest('hex').slice(0, 12)}`;

const file = '/etc/slipway/app-network.nft';
const unit = 'slipway-app-network.service';
const header =
  '# Written by Slipway, and written again when it is changed. Your own rules go into /etc/slipway/allowed.d.\n';
const fileText = `${header}${nftTable(table, `  chain ${mark} {}\n${rules}`)}`;
const unitText = `${header}${nftUnit('What applications may not reach, as Slipway has it', file, table)}`;

/** For a script that looks at the server anyway: succeeds where these rules are loaded, and no killed build left its own. */
export const hasNetworkRules = `{ nft list chain ${table} ${mark} && { ! nft list table ${buildsTable} ||
  ! flock --exclusive --nonblock ${buildsLock} true; }; } > /dev/null 2>&1`;

/**
 * Loads them where they are not, and removes rules for builds that a killed build left behind. With `insists`, what is
 * missing is installed, and a failure is a fault. Without, a server that cannot load them is left as it is: the check
 * `docker_app_network` shows it.
 */
export async function ensureNetworkRules(
  remote: Remote,
  { insists, signal }: { readonly insists: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const args = [insists ? 'insist' : '', file, fileText, unit, unitText];
  await remote.script(ensureScript, args, { signal, timeoutMs: 5 * minute });
}

const ensureScript = `
how=$1 file=$2 text=$3 unit=$4 unit_text=$5
unit_file=/etc/systemd/system/$unit
give_up() { if [ "$how" = insist ]; then exit 1; else exit 0; fi; }
if ! command -v nft > /dev/null; then
  if [ "$how" != insist ]; then give_up; fi
  export DEBIAN_FRONTEND=noninteractive
  get_nft() { apt-get install --yes --quiet --no-install-recommends nftables > /dev/null; }
  get_nft || { apt-get update > /dev/null; get_nft; }
fi
( flock --exclusive --nonblock 8 && nft delete table ${buildsTable} 2> /dev/null ) 8>> ${buildsLock} || :
if printf %s "$text" | cmp -s - "$file" && printf %s "$unit_text" | cmp -s - "$unit_file" \\
  && systemctl is-enabled --quiet "$unit" && systemctl is-active --quiet "$unit" && ${hasNetworkRules}; then
  exit 0
fi
umask 022
mkdir -p /etc/slipway/allowed.d
put() {
  draft=$(mktemp "$1.XXXXXX")
  printf %s "$2" > "$draft"
  chmod 644 "$draft"
  case $1 in *.nft) nft --check --file "$draft" || { rm "$draft"; give_up; } ;; esac
  sync "$draft"
  mv -fT "$draft" "$1"
}
put "$file" "$text"
put "$unit_file" "$unit_text"
systemctl daemon-reload
systemctl enable --quiet "$unit"
systemctl reload-or-restart "$unit"
`;

export async function removeNetworkRules(remote: Remote, signal: AbortSignal): Promise<void> {
  await remote.script(removeScript, [unit, file], { signal });
}

const removeScript = `
systemctl disable --now --quiet "$1" 2> /dev/null || :
rm -f "/etc/systemd/system/$1" "$2"
systemctl daemon-reload
rmdir /etc/slipway/allowed.d /etc/slipway 2> /dev/null || :
if command -v nft > /dev/null; then
  nft delete table ${table} 2> /dev/null || :
  nft delete table ${buildsTable} 2> /dev/null || :
fi
`;
