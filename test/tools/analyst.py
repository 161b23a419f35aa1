"""Asks as an analyst with clickhouse-connect: plainly, with pandas, with Arrow and with SQLAlchemy.

Prints one JSON object per line; tools.ts reads them. Arguments: host, port, user, password, views.
"""

import json
import sys
import threading
from datetime import datetime, timezone

import clickhouse_connect
import pandas
import sqlalchemy

host, port, user, password, views = sys.argv[1:6]
connection = dict(host=host, port=int(port), username=user, password=password)
json_columns = ['params', 'device_extra', 'extra']


def say(**facts):
    print(json.dumps(facts, default=str), flush=True)


def client(**options):
    return clickhouse_connect.get_client(**connection, **options)


def attempt(check, work):
    try:
        say(check=check, **work())
    except Exception as error:  # what an analyst would see
        say(check=check, error=f'{type(error).__name__}: {error}')


def plain(value):
    """Returns a value of pandas or numpy as one of Python."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, bytes):
        return value.decode('utf-8', 'replace')
    return value.item() if hasattr(value, 'item') else value


def text_of(value):
    return value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False, separators=(',', ':'))


def pairs(values, wanted):
    return {'pairs': [[text_of(value), want or 'null'] for value, want in zip(values, wanted)]}


def compare(table, rows_of):
    """Reads every JSON column of a view, beside the text that is right."""
    for column in json_columns:
        want = f'intake_json({column})' if table == 'logs' else column
        sql = f'SELECT {column} AS value, {want} AS want FROM intake.{table} ORDER BY id'
        attempt(f'{table}.{column}, {rows_of.__name__}', lambda: pairs(*rows_of(sql)))


def query(sql):
    rows = client().query(sql).result_rows
    return [row[0] for row in rows], [row[1] for row in rows]


def query_df(sql):
    frame = client().query_df(sql).astype(object)
    frame = frame.where(frame.notna(), None)
    return list(frame['value']), list(frame['want'])


def query_df_arrow(sql):
    """In Arrow and Parquet, ClickHouse prints a dot of a name as %2E."""
    frame = client().query_df_arrow(sql)
    return [value.replace('%2E', '.') for value in frame['value']], list(frame['want'])


def query_with_setting(sql):
    """With the setting of docs/connect.md, `query` returns objects."""
    rows = client(settings={'output_format_native_write_json_as_string': 0}).query(sql).result_rows
    return [row[0] for row in rows], [row[1] for row in rows]


def sqlalchemy_rows(sql):
    with engine.connect() as connected:
        rows = connected.execute(sqlalchemy.text(sql)).fetchall()
    return [row[0] for row in rows], [row[1] for row in rows]


engine = sqlalchemy.create_engine(f'clickhousedb://{user}:{password}@{host}:{port}/intake')
say(versions=[clickhouse_connect.__version__, pandas.__version__, sqlalchemy.__version__])

for view in views.split(','):
    sql = f'SELECT * FROM intake.{view} LIMIT 1000'
    attempt(f'{view}, query', lambda: {'rows': len(client().query(sql).result_rows)})
    attempt(f'{view}, query_df', lambda: {'rows': len(client().query_df(sql))})
    attempt(f'{view}, query_df_arrow', lambda: {'rows': len(client().query_df_arrow(sql))})
    attempt(f'{view}, sqlalchemy', lambda: {'rows': len(pandas.read_sql(sql, engine))})

for rows_of in [query, query_df, query_df_arrow, query_with_setting, sqlalchemy_rows]:
    compare('logs', rows_of)
    compare('logs_flat', rows_of)
for column in ['params.items', 'params.^meta', 'params.amount']:
    sql = f'SELECT {column} AS value, intake_json({column}) AS want FROM intake.logs ORDER BY id'
    for rows_of in [query, query_df]:
        attempt(f'logs.{column}, {rows_of.__name__}', lambda: pairs(*rows_of(sql)))

attempt('a param', lambda: {'value': client().query(
    'SELECT count() FROM intake.logs_flat WHERE event = {event:String}', parameters={'event': "it's"}
).result_rows[0][0]})
attempt('a big integer', lambda: {'value': str(client().query(
    "SELECT JSONExtractInt(params, 'big') FROM intake.logs_flat WHERE event = 'big'"
).result_rows[0][0])})


def times():
    aware = client(tz_mode='aware')
    [[time]] = aware.query("SELECT time FROM intake.logs WHERE event = 'noon'").result_rows
    found = aware.query(
        "SELECT count() FROM intake.logs WHERE event = 'noon' AND time = {time:DateTime64(3, 'UTC')}",
        parameters={'time': time},
    ).result_rows
    zone = datetime.now().astimezone().utcoffset().total_seconds()
    return {'value': time.astimezone(timezone.utc).isoformat(), 'found': found[0][0], 'offset': zone}


attempt('a time', times)


def cancel():
    """Cancels a query from a second connection, because a thread waits for the first."""
    running = client(autogenerate_session_id=False)
    outcome = []

    def wait():
        try:
            running.query(
                'SELECT sum(sleepEachRow(1)) FROM numbers(110)',
                settings={'max_block_size': 1, 'max_execution_time': 120, 'query_id': 'python'},
            )
        except Exception as error:
            outcome.append(str(error))

    thread = threading.Thread(target=wait)
    thread.start()
    killer = client(autogenerate_session_id=False)
    is_running = "SELECT count() FROM system.processes WHERE query_id = 'python'"
    while killer.query(is_running).result_rows[0][0] == 0:
        pass
    killer.command("KILL QUERY WHERE query_id = 'python'")
    thread.join()
    return {'value': 'QUERY_WAS_CANCELLED' in outcome[0]}


attempt('cancel', cancel)
