FROM crystallang/crystal:1
RUN groupadd --gid 10001 app && useradd --uid 10001 --gid 10001 --create-home app && install -d -o 10001 -g 10001 /app
WORKDIR /app
COPY --chown=10001:10001 . ./
ENV HOME=/home/app
USER 10001:10001
RUN shards install --production
RUN crystal build --release -o server src/app.cr
ENV PORT=8080
EXPOSE 8080
HEALTHCHECK NONE
CMD ["/bin/sh", "-c", "exec ./server --port $PORT"]
