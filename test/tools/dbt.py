"""Builds and tests the project in the folder dbt, twice, as the user of deploy/clickhouse/dbt.xml.

Prints one JSON object per line; tools.ts reads them. Arguments: host, port.
"""

import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version

folder = tempfile.mkdtemp()
project = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'dbt')
paths = ['--project-dir', project, '--profiles-dir', project, '--target-path', folder]
environment = {
    **os.environ, 'DBT_HOST': sys.argv[1], 'DBT_PORT': sys.argv[2], 'DBT_PASSWORD': 'dbt', 'DBT_SEND_ANONYMOUS_USAGE_STATS': 'False'
}


def dbt(*arguments):
    command = [os.path.join(os.path.dirname(sys.executable), 'dbt'), '--log-path', folder, *arguments, *paths]
    return subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def say(check, passed, output):
    print(json.dumps({'check': check, **({'value': True} if passed else {'error': output[-2000:]})}))


print(json.dumps({'versions': [version('dbt-core'), version('dbt-clickhouse')]}))
for check in ['build', 'build again']:
    result = dbt('build')
    say(check, result.returncode == 0 and 'PASS=3 ' in result.stdout, result.stdout)
result = dbt('show', '--inline', 'SELECT id FROM intake.logs_raw')
say('raw rows are refused', 'ACCESS_DENIED' in result.stdout, result.stdout)
