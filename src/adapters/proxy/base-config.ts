/**
 * What is the same on every server: the listeners of the world, what a request may carry, and how long things may take.
 * Sites take their rules from the two named defaults here, so that a change of them needs no site to be written anew.
 */
import { hostsMapInside, proxyFolderInside } from './places.ts';

/**
 * Only this machine may ask for a certain server, and only over the address of this machine: a visitor's address can be
 * neither. What comes from outside under these names says nothing and goes no further.
 */
export const baseConfig = `# Written by Slipway. Each site has a file beside this one.
global
  log stdout format raw local0 notice
  user haproxy
  group haproxy
  fd-hard-limit 65536
  stats socket /run/slipway/admin.sock mode 600 level admin expose-fd listeners
  stats timeout 2m
  hard-stop-after 24h
  mworker-max-reloads 100
  ssl-default-bind-options ssl-min-ver TLSv1.2 no-tls-tickets
  tune.lua.log.stderr off
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
  http-request set-header x-forwarded-for %[src] unless { so_name inner }
  http-request set-header x-forwarded-proto https if { ssl_fc } !{ so_name inner }
  http-request set-header x-forwarded-proto http if !{ ssl_fc } !{ so_name inner }
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

frontend web from slipway_in
  bind :80
  bind :443 ssl crt ${proxyFolderInside}/certificates/ alpn h2,http/1.1
.if defined(SLIPWAY_IPV6)
  bind :::80 v6only
  bind :::443 v6only ssl crt ${proxyFolderInside}/certificates/ alpn h2,http/1.1
.endif
  http-request unset-var(txn.check)
  http-request set-var(txn.site) var(txn.host),host_only,lower,map_str(${hostsMapInside})
  http-request return status 404 content-type text/plain string "No application answers to this name.\\n" unless { var(txn.site) -m found }
  use_backend %[var(txn.site)]
`;

/**
 * A request that nobody can take for now waits here, without a thread of its own, until somebody can, the site is
 * stopped, or its time is up; what then becomes of it is for the rules after this one.
 */
export const holdLua = `core.register_action("hold", { "http-req" }, function(txn, backend, marker, seconds)
  local last = core.now().sec + tonumber(seconds)
  local pause = 10
  while core.now().sec < last do
    if txn.f:stopping() == 1 or txn.f:nbsrv(backend) > 0 or txn.f:srv_is_up(backend .. "/" .. marker) == 0 then return end
    core.msleep(pause)
    if pause < 80 then pause = pause + 10 end
  end
end, 3)
`;
