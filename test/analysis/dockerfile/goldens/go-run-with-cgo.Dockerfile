FROM golang:1.23-bookworm AS build
WORKDIR /app
ENV CGO_ENABLED=1
COPY api/ ./
RUN --mount=type=cache,target=/go/pkg/mod \
    --mount=type=cache,target=/root/.cache/go-build \
    go build -ldflags=-s -o out ./cmd/api

FROM debian:bookworm-slim
RUN groupadd --gid 10001 app && useradd --uid 10001 --gid 10001 --create-home app && install -d -o 10001 -g 10001 /app
WORKDIR /app
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /app/out ./out
ENV PORT=8080
USER 10001:10001
EXPOSE 8080
HEALTHCHECK NONE
CMD ["./out", "serve"]
