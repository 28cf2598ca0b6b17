FROM rust:1-bookworm AS build
WORKDIR /app
COPY . ./
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/usr/local/cargo/git \
    --mount=type=cache,target=/app/target,sharing=locked \
    cargo build --release --package server && mkdir -p /out/target/release && cp target/release/server /out/target/release/

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends libssl3 && rm -rf /var/lib/apt/lists/*
RUN groupadd --gid 10001 app && useradd --uid 10001 --gid 10001 --create-home app && install -d -o 10001 -g 10001 /app
WORKDIR /app
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/ ./
COPY --from=build --chown=10001:10001 /app/server/templates/ ./templates/
ENV PORT=8000
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$PORT && printf \"GET %s HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n\" \"$1\" >&3 && read -r -t 4 _ status _ <&3 && [ \"$status\" -lt \"$2\" ]", "health", "/", "500"]
CMD ["/bin/sh", "-c", "exec env ROCKET_ADDRESS=0.0.0.0 ROCKET_PORT=$PORT ./target/release/server"]
