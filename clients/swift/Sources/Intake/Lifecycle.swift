import Foundation

#if os(iOS) || os(tvOS) || os(visionOS)
  /// Observes when an app goes to the background and returns. The names of the notifications are
  /// texts here, so that extensions, which have no application object, can use the package too.
  final class Lifecycle: @unchecked Sendable {
    private static let flushTimeout: TimeInterval = 5
    private let observers: [any NSObjectProtocol]

    init(_ worker: Worker) {
      let observe = { (name: String, run: @escaping @Sendable () -> Void) in
        NotificationCenter.default.addObserver(
          forName: Notification.Name(name), object: nil, queue: nil, using: { _ in run() })
      }
      observers = [
        observe("UIApplicationDidEnterBackgroundNotification") { Self.flush(worker) },
        observe("UIApplicationWillEnterForegroundNotification") {
          Task.detached { await worker.wake() }
        },
      ]
    }

    deinit {
      for observer in observers { NotificationCenter.default.removeObserver(observer) }
    }

    /// Asks the system not to suspend the process until the flush is complete.
    private static func flush(_ worker: Worker) {
      let done = DispatchSemaphore(value: 0)
      ProcessInfo.processInfo.performExpiringActivity(withReason: "Intake sends") { isExpired in
        if isExpired {
          done.signal()
          return
        }
        Task.detached {
          _ = await worker.flush(timeout: flushTimeout)
          done.signal()
        }
        _ = done.wait(timeout: .now() + flushTimeout + 1)
      }
    }
  }
#else
  /// On other systems nothing is observed, because they do not suspend a process.
  struct Lifecycle: Sendable {
    init(_ worker: Worker) {}
  }
#endif
