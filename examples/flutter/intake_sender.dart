// Not run.
import 'dart:async';
import 'dart:convert';
import 'dart:io';
import 'dart:math';

import 'package:http/http.dart' as http;
import 'package:path_provider/path_provider.dart';
import 'package:uuid/uuid.dart';

class IntakeSender {
  IntakeSender({required this.url, required this.apiKey, required this.sender});

  final String url; // such as https://intake.example.com
  final String apiKey;
  final Map<String, Object?> sender; // bundle_identifier, device, device_uuid, unique_user_id

  static const _entriesMax = 500, _bytesMax = 190000, _storageMax = 4000000;
  final _client = http.Client();
  final _random = Random();
  final _failures500 = <String, int>{}; // files that got 500, until the next start
  Future<void> _io = Future.value(); // one file operation after the other
  File? _open; // the batch that grows; its first line is the sender
  int _entries = 0, _bytes = 0, _failures = 0;
  bool _isSending = false, _isStopped = false;
  final _clock = Stopwatch()..start();
  Duration _notBefore = Duration.zero; // by `_clock`
  Timer? _timer;

  /// Returns when the event is in its file; throws if it cannot be written.
  Future<void> log(String event, [Map<String, Object?> params = const {}]) {
    final line = jsonEncode({'id': const Uuid().v7(), 'event': event, 'params': params});
    return _serial(() => _append(line));
  }

  /// Sends what waits. Call it also when the app starts, comes to the front and leaves it.
  Future<void> flush() async {
    if (_isSending || _isStopped) return;
    final left = _notBefore - _clock.elapsed;
    if (left > Duration.zero) return _sendAfter(left);
    _isSending = true;
    _timer?.cancel();
    _timer = null;
    try {
      await _serial(() async => _open = null); // closed: it does not grow any more
      for (var file = await _oldest(); file != null; file = await _oldest()) {
        final pause = await _send(file);
        if (_isStopped) return;
        if (pause != null) {
          _notBefore = _clock.elapsed + pause;
          return _sendAfter(pause);
        }
        _failures = 0;
      }
    } finally {
      _isSending = false;
    }
  }

  void _sendAfter(Duration pause) {
    _timer?.cancel();
    _timer = Timer(pause, () {
      _timer = null;
      unawaited(flush());
    });
  }

  Future<T> _serial<T>(Future<T> Function() run) {
    final result = _io.then((_) => run());
    _io = result.then((_) {}, onError: (_) {});
    return result;
  }

  Future<Directory> _directory() async {
    final support = await getApplicationSupportDirectory();
    return Directory('${support.path}/intake').create(recursive: true);
  }

  Future<List<File>> _files() async {
    final entries = await (await _directory()).list().toList();
    final files = entries.whereType<File>().where((file) => file.path.endsWith('.log')).toList();
    return files..sort((a, b) => a.path.compareTo(b.path)); // by the time in their names
  }

  /// The oldest file that can be sent.
  Future<File?> _oldest() async {
    final files = (await _files()).where((file) => file.path != _open?.path);
    return files.where((file) => (_failures500[file.path] ?? 0) < 3).firstOrNull;
  }

  Future<void> _delete(File file) async {
    try {
      await file.delete();
    } on PathNotFoundException {
      // It gave way to newer events meanwhile.
    }
  }

  Future<void> _append(String line) async {
    final size = utf8.encode(line).length + 1;
    if (_open == null || _entries >= _entriesMax || _bytes + size > _bytesMax) {
      await _makeRoom();
      final head = jsonEncode(sender);
      _open = File('${(await _directory()).path}/${const Uuid().v7()}.log');
      await _open!.writeAsString('$head\n', flush: true);
      _entries = 0;
      _bytes = utf8.encode(head).length;
    }
    await _open!.writeAsString('$line\n', mode: FileMode.append, flush: true);
    _entries++;
    _bytes += size;
    if (_timer == null) _sendAfter(const Duration(seconds: 5));
  }

  Future<void> _makeRoom() async {
    final files = await _files();
    var total = 0;
    for (final file in files.reversed) {
      total += await file.length();
      if (total > _storageMax) await _delete(file);
    }
  }

  /// Returns null when the file is settled, else how long to wait.
  Future<Duration?> _send(File file) async {
    if (!await file.exists()) return null;
    final lines = const LineSplitter().convert(await file.readAsString());
    // The end of the process can have cut the last line off.
    final logs = lines.skip(1).where((line) => line.endsWith('}')).toList();
    if (logs.isEmpty) {
      await _delete(file);
      return null;
    }
    final http.Response response;
    try {
      final request = http.Request('POST', Uri.parse('$url/api/log/batch'))
        ..followRedirects = false // the key would go along
        ..headers.addAll({'content-type': 'application/json', 'x-api-key': apiKey})
        ..body = '${lines.first.substring(0, lines.first.length - 1)},"logs":[${logs.join(',')}]}';
      response = await _client
          .send(request)
          .then(http.Response.fromStream)
          .timeout(const Duration(seconds: 30));
    } on Exception {
      return _pause(null);
    }
    final body = _object(response.body);
    final status = response.statusCode;
    if (status == 207) {
      final results = body['results'];
      // Not from Intake, although it has its status.
      if (results is! List || results.length != logs.length) return _pause(null);
      await _delete(file); // accepted and rejected entries alike are definite
      return null;
    }
    if (status == 413 && logs.length > 1) {
      await _split(file, lines.first, logs);
      return null;
    }
    if ([401, 403, 404, 405].contains(status) && body['code'] != null) {
      _isStopped = true; // until the next start; everything is kept
      return null;
    }
    if (status == 500) _failures500[file.path] = (_failures500[file.path] ?? 0) + 1;
    final isFinal = status >= 400 && status < 500 && ![401, 403, 404, 405, 408, 429].contains(status);
    if (!isFinal) return _pause(response.headers['retry-after']);
    await _delete(file);
    return null;
  }

  /// The halves have names after that of the whole; a crash in between sends the same ids twice.
  Future<void> _split(File file, String head, List<String> logs) async {
    final middle = logs.length ~/ 2;
    final stem = file.path.substring(0, file.path.length - '.log'.length);
    for (final (index, half) in [logs.sublist(0, middle), logs.sublist(middle)].indexed) {
      await File('$stem$index.log').writeAsString('$head\n${half.join('\n')}\n', flush: true);
    }
    await _delete(file);
  }

  Duration _pause(String? retryAfter) {
    final seconds = int.tryParse(retryAfter ?? '');
    if (seconds != null) {
      return Duration(milliseconds: (seconds * 1000 * (1 + _random.nextDouble() / 2)).round());
    }
    final reach = min(900, 1 << min(++_failures, 10));
    return Duration(milliseconds: 1000 + (_random.nextDouble() * (reach - 1) * 1000).round());
  }

  Map<String, Object?> _object(String text) {
    try {
      final value = jsonDecode(text);
      return value is Map<String, Object?> ? value : {};
    } on FormatException {
      return {};
    }
  }
}
