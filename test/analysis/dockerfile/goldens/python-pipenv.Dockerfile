FROM python:3.13-slim AS dependencies
WORKDIR /app
RUN --mount=type=cache,target=/root/.cache/pip \
    pip install pipenv
RUN python -m venv /opt/venv
ENV VIRTUAL_ENV=/opt/venv \
    PATH="/opt/venv/bin:$PATH"
COPY Pipfile Pipfile.lock ./
RUN --mount=type=cache,target=/root/.cache/pip \
    pipenv requirements > /tmp/requirements.txt && pip install -r /tmp/requirements.txt

FROM python:3.13-slim
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
HEALTHCHECK NONE
CMD ["python", "app.py"]
