FROM ghcr.io/gohugoio/hugo:v0.147.0 AS build
USER 0:0
WORKDIR /app
COPY site/ ./
RUN hugo --minify

FROM nginx:stable
RUN rm -rf /usr/share/nginx/html/* && printf '%s\n' \
    'worker_processes auto;' \
    'pid /tmp/nginx.pid;' \
    'error_log /dev/stderr warn;' \
    'events {' \
    '  worker_connections 1024;' \
    '}' \
    'http {' \
    '  include /etc/nginx/mime.types;' \
    '  default_type application/octet-stream;' \
    '  access_log /dev/stdout;' \
    '  client_body_temp_path /tmp/client-body;' \
    '  proxy_temp_path /tmp/proxy;' \
    '  fastcgi_temp_path /tmp/fastcgi;' \
    '  uwsgi_temp_path /tmp/uwsgi;' \
    '  scgi_temp_path /tmp/scgi;' \
    '  server_tokens off;' \
    '  sendfile on;' \
    '  tcp_nopush on;' \
    '  keepalive_timeout 75s;' \
    '  gzip on;' \
    '  gzip_vary on;' \
    '  gzip_proxied any;' \
    '  gzip_comp_level 5;' \
    '  gzip_min_length 1024;' \
    '  gzip_types text/plain text/css text/xml text/javascript application/javascript application/json application/manifest+json application/xml application/rss+xml application/wasm image/svg+xml font/ttf;' \
    '  map $uri $cache_control {' \
    '    default "no-cache";' \
    '    "~^/(?:_next/static|_nuxt|_astro|_app/immutable)/" "public, max-age=31536000, immutable";' \
    '    "~[.-](?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{8,64}\.[a-z0-9.]+$" "public, max-age=31536000, immutable";' \
    '    "~^/assets/.*[.-](?=[^.]*[A-Za-z])(?=[^.]+[0-9A-Z_])[A-Za-z0-9_-]{8}\.[a-z0-9.]+$" "public, max-age=31536000, immutable";' \
    '    "~-(?=[0-9]*[A-Z])[0-9A-Z]{8}\.(?:js|mjs|css)$" "public, max-age=31536000, immutable";' \
    '  }' \
    '  server {' \
    '    listen 8080;' \
    '    listen [::]:8080;' \
    '    root /usr/share/nginx/html;' \
    '    index index.html;' \
    '    absolute_redirect off;' \
    '    add_header Cache-Control $cache_control;' \
    '    add_header X-Content-Type-Options nosniff always;' \
    '    location ~ "/\.(?!well-known/)" {' \
    '      return 404;' \
    '    }' \
    '    error_page 404 /404.html;' \
    '    location / {' \
    '      try_files $uri $uri.html $uri/ =404;' \
    '    }' \
    '  }' \
    '}' \
    > /etc/nginx/nginx.conf
COPY --from=build /app/public/ /usr/share/nginx/html/
ENV PORT=8080
USER 101:101
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$PORT && printf \"GET %s HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n\" \"$1\" >&3 && read -r -t 4 _ status _ <&3 && [ \"$status\" -lt \"$2\" ]", "health", "/", "500"]
ENTRYPOINT []
CMD ["nginx", "-g", "daemon off;"]
