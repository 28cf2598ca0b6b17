FROM elixir:1.17-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends build-essential git && rm -rf /var/lib/apt/lists/*
WORKDIR /app
ENV MIX_ENV=prod \
    MIX_HOME=/opt/mix
RUN mix local.hex --force && mix local.rebar --force
COPY mix.exs mix.lock ./
RUN --mount=type=cache,target=/root/.hex \
    mix deps.get --only prod
COPY config/ ./config/
RUN mix deps.compile
COPY . ./
RUN mix compile && mix assets.deploy
RUN mix release --path /out

FROM elixir:1.17-slim
RUN groupadd --gid 10001 app && useradd --uid 10001 --gid 10001 --create-home app && install -d -o 10001 -g 10001 /app
WORKDIR /app
ENV MIX_ENV=prod \
    LANG=C.UTF-8 \
    PHX_SERVER=true \
    PORT=4000
COPY --from=build --chown=10001:10001 /out/ ./
USER 10001:10001
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$PORT && printf \"GET %s HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n\" \"$1\" >&3 && read -r -t 4 _ status _ <&3 && [ \"$status\" -lt \"$2\" ]", "health", "/", "500"]
CMD ["bin/server"]
