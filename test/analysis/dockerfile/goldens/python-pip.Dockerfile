FROM python:3.12-slim AS dependencies
WORKDIR /app
RUN python -m venv /opt/venv
ENV VIRTUAL_ENV=/opt/venv \
    PATH="/opt/venv/bin:$PATH"
COPY requirements.txt base.txt ./
RUN --mount=type=cache,target=/root/.cache/pip \
    pip install -r requirements.txt

FROM python:3.12-slim
RUN groupadd --gid 10001 app && useradd --uid 10001 --gid 10001 --create-home app && install -d -o 10001 -g 10001 /app
WORKDIR /app
ENV VIRTUAL_ENV=/opt/venv \
    PATH="/opt/venv/bin:$PATH"
ENV PYTHONUNBUFFERED=1
COPY --from=dependencies /opt/venv/ /opt/venv/
COPY --chown=10001:10001 . ./
ENV PORT=8000
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import http.client,os,sys;c=http.client.HTTPConnection('127.0.0.1',int(os.environ['PORT']),timeout=4);c.request('GET',sys.argv[1]);sys.exit(c.getresponse().status>=int(sys.argv[2]))", "/", "500"]
CMD ["/bin/sh", "-c", "exec uvicorn main:app --host 0.0.0.0 --port $PORT"]
