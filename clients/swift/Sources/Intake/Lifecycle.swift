import Foundation

#if os(iOS) || os(tvOS) || os(visionOS)
  /// Sends when the app goes to the background and when it returns. Names the notifications by
  /// strings, not by the constants of `UIApplication`, because app extensions have no application
  /// object.
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

    /// Flushes, and asks the system not to suspend the process until the flush is complete.
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
  /// On other systems the client does not observe the state of the app.
  struct Lifecycle: Sendable {
    init(_ worker: Worker) {}
  }
#endif
