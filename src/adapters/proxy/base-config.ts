/**
 * What is the same on every server: the listeners of the world, what a request may carry, and how long things may take.
 * Fronts take their rules from the two named defaults here, so that a change of them needs no front to be written anew.
 */
import {
  allWait,
  certificateListInside,
  hostsMapInside,
  policiesMapInside,
  proxyFolderInside,
  settingsMapInside,
} from './places.ts';

/** Mozilla's intermediate profile. Nothing of a session is kept by the client, so no ticket key has to be changed. */
const tls = `  ssl-default-bind-options ssl-min-ver TLSv1.2 no-tls-tickets prefer-client-ciphers
  ssl-default-bind-curves X25519:prime256v1:secp384r1
  ssl-default-bind-ciphersuites TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256
  ssl-default-bind-ciphers ${[
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
    'DHE-RSA-AES128-GCM-SHA256',
    'DHE-RSA-AES256-GCM-SHA384',
    'DHE-RSA-CHACHA20-POLY1305',
  ].join(':')}
  tune.ssl.default-dh-param 2048
`;

const listener = `ssl crt-list ${certificateListInside} alpn h2,http/1.1`;

/**
 * What is known of a name, the exact one before the wildcard. The key of a wildcard is made only of what can be a label,
 * so nothing else can get into an address that somebody is sent to.
 */
const routing = `  http-request set-var(txn.name) var(txn.host),host_only,lower,rtrim(.)
  http-request return status 200 content-type text/plain hdr cache-control no-store lf-string "%[path,field(4,/)].%[str(thumbprint),map_str(${settingsMapInside})]" if METH_GET { path -m reg ^/\\.well-known/acme-challenge/[A-Za-z0-9_-]{1,512}$ } { str(thumbprint),map_str(${settingsMapInside}) -m found }
  http-request set-var(txn.key) var(txn.name)
  http-request set-var(txn.front) var(txn.key),map_str(${hostsMapInside})
  http-request set-var(txn.key) var(txn.name),regsub(^[^.]*,*) if !{ var(txn.front) -m found } { var(txn.name) -m reg ^[a-z0-9_-]{1,63}\\.[a-z0-9_.-]{1,250}$ }
  http-request set-var(txn.front) var(txn.key),map_str(${hostsMapInside}) unless { var(txn.front) -m found }
  http-request return status 404 content-type text/plain string "No application answers to this name.\\n" unless { var(txn.front) -m found }
  http-request set-var(txn.policy) var(txn.key),map_str(${policiesMapInside})
  http-request set-var(txn.hsts) var(txn.policy),field(2,|) if { var(txn.proto) -m str https } { var(txn.policy),field(2,|) -m reg ^[0-9]+$ }
  http-request set-var(txn.to) var(txn.policy),field(4,|) if { var(txn.proto) -m str https }
  http-request set-var(txn.to) var(txn.policy),field(3,|) if { var(txn.proto) -m str http }
  http-request redirect prefix %[var(txn.to)] code 308 if { var(txn.to) -m beg http }
  http-request redirect prefix https://%[var(txn.name)] code 308 if { var(txn.proto) -m str http } { var(txn.policy),field(1,|) -m str force }
  http-after-response set-header strict-transport-security max-age=%[var(txn.hsts)] if { var(txn.hsts) -m found }
`;

/**
 * Only this machine may ask for a certain server, and only over the address of this machine: a visitor's address can be
 * neither. What comes from outside under these names says nothing and goes no further.
 */
export const baseConfig = `# Written by Slipway. Each front has a file beside this one.
global
  log stdout format raw local0 notice
  user haproxy
  group haproxy
  fd-hard-limit 65536
  stats socket /run/slipway/admin.sock mode 600 level admin expose-fd listeners
  stats timeout 2m
  hard-stop-after 24h
  mworker-max-reloads 100
${tls}  tune.lua.log.stderr off
  lua-load-per-thread ${proxyFolderInside}/config/hold.lua

defaults slipway
  mode http
  log global
  option dontlognull
  timeout connect 5s
  timeout queue 30s
  timeout client 5m
  timeout server 5m
  timeout http-request 15s
  timeout http-keep-alive 75s
  timeout client-fin 30s
  timeout tunnel 24h

# A reload lets open connections have their next answer before it closes them: no request meets a closed door.
# What an old worker is asked after that it passes on to the new one (inner), with the headers that it has set.
defaults slipway_in from slipway
  option idle-close-on-response
  http-request set-var(txn.check) req.hdr(x-slipway-check) if { src 127.0.0.1 } { dst 127.0.0.1 }
  http-request del-header x-slipway- -m beg
  http-request set-var(txn.host) req.hdr(host)
  http-request del-header x-forwarded- -m beg unless { so_name inner }
  http-request del-header forwarded
  http-request del-header x-real-ip
  http-request del-header proxy
  http-request set-var(txn.proto) req.hdr(x-forwarded-proto) if { so_name inner }
  http-request set-var(txn.proto) str(https) if { ssl_fc } !{ so_name inner }
  http-request set-var(txn.proto) str(http) if !{ ssl_fc } !{ so_name inner }
  http-request set-header x-forwarded-for %[src] unless { so_name inner }
  http-request set-header x-forwarded-proto %[var(txn.proto)] unless { so_name inner }
  http-request set-header x-forwarded-port %[dst_port] unless { so_name inner }
  http-request set-header x-forwarded-host %[var(txn.host)] if { var(txn.host) -m found } !{ so_name inner }

# A connection that the application closed while it was idle costs no request: reading is tried again, and idle ones
# are given up before most applications do. Not leastconn: HAProxy 3.0 hangs in it when servers come and go.
defaults slipway_out from slipway
  balance roundrobin
  http-reuse safe
  retries 3
  option redispatch 1
  retry-on conn-failure empty-response
  http-request disable-l7-retry unless METH_GET || METH_HEAD || METH_OPTIONS
  http-response del-header x-slipway- -m beg
  http-response set-header x-slipway-served %s if { var(txn.check) -m found }

# A worker that was replaced by a reload knows nothing of names that have come since, nor of those that are gone: it
# passes on what open connections still ask of it.
frontend web from slipway_in
  bind :80
  bind :443 ${listener}
.if defined(SLIPWAY_IPV6)
  bind :::80 v6only
  bind :::443 v6only ${listener}
.endif
  bind abns@slipway_web name inner
  http-request unset-var(txn.check)
  http-request allow if { stopping }
${routing}  use_backend web_next if { stopping }
  use_backend %[var(txn.front)]
  default_backend web_absent

backend web_next from slipway_out
  server next abns@slipway_web

# Names may be given to an application before it is there for the first time.
backend web_absent from slipway_out
  http-request return status 503 hdr retry-after 5 hdr cache-control no-store content-type text/plain string "This application is not available at the moment.\\n"
`;

/**
 * A request that nobody can take for now waits here, without a thread of its own, until somebody can, the front is
 * stopped, or its time is up; what then becomes of it is for the rules after this one. A front that was written by an
 * earlier version has no server by which all wait.
 */
export const holdLua = `core.register_action("hold", { "http-req" }, function(txn, backend, marker, seconds)
  local last = core.now().sec + tonumber(seconds)
  local pause = 10
  local function is_up(name)
    local is_known, up = pcall(txn.f.srv_is_up, txn.f, backend .. "/" .. name)
    return is_known and up == 1
  end
  while core.now().sec < last do
    if not is_up(marker) then return end
    if txn.f:stopping() == 1 or (txn.f:nbsrv(backend) > 0 and not is_up("${allWait}")) then
      txn:set_var("txn.nobody", false)
      return
    end
    core.msleep(pause)
    if pause < 80 then pause = pause + 10 end
  end
end, 3)
`;
